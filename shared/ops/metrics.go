package ops

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// NewRegistry returns a registry with the metrics every service has: the Go
// runtime's, the process's, the build's and the state of health's parts.
func NewRegistry(health *Health) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewBuildInfoCollector(),
		newPartCollector(health),
	)
	return reg
}

// partCollector reads the parts at scrape time, so that a change costs a
// service nothing and the metric cannot drift from /readyz.
type partCollector struct {
	health   *Health
	state    *prometheus.Desc
	draining *prometheus.Desc
}

func newPartCollector(health *Health) *partCollector {
	return &partCollector{
		health: health,
		state: prometheus.NewDesc("waypost_part_state",
			"1 for the state a part is in, 0 for the others.", []string{"part", "state"}, nil),
		draining: prometheus.NewDesc("waypost_draining",
			"1 once the service has begun to stop.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *partCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.state
	ch <- c.draining
}

// Collect implements prometheus.Collector.
func (c *partCollector) Collect(ch chan<- prometheus.Metric) {
	for _, p := range c.health.all() {
		is := p.status.Load().state
		for _, state := range []State{StateOK, StateDegraded, StateDown} {
			ch <- prometheus.MustNewConstMetric(c.state, prometheus.GaugeValue, oneIf(is == state), p.name, string(state))
		}
	}
	ch <- prometheus.MustNewConstMetric(c.draining, prometheus.GaugeValue, oneIf(c.health.draining.Load()))
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
