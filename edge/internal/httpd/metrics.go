package httpd

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"waypost/edge/internal/redirect"
)

// tier is where an answer came from, for the metrics.
type tier uint8

const (
	tierNone tier = iota // no code was looked up
	tierL1
	tierL2
	tierFilter
	tierOrigin
	tiers
)

func tierOf(t redirect.Tier) tier { return tier(t) + tierL1 }

// statuses are those an edge answers with; another one would be counted as 500.
var statuses = [...]int{ //nolint:gochecknoglobals // constant table
	200, 204, 301, 302, 307, 308, 400, 404, 405, 408, 410, 414, 429, 431, 500, 503,
}

// Metrics counts answers. Its labels come from fixed lists, never from a
// request. It is safe for concurrent use and does not allocate.
type Metrics struct {
	requests [tiers][600]prometheus.Counter
	latency  [tiers]prometheus.Observer
	faults   prometheus.Counter
}

// NewMetrics registers the listener's metrics.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "waypost_edge_requests_total",
		Help: "Answers by the tier they came from and their status.",
	}, []string{"tier", "status"})
	latency := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "waypost_edge_request_seconds",
		Help:    "Time from the request's head to its answer, by tier.",
		Buckets: []float64{25e-6, 100e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 1, 5},
	}, []string{"tier"})
	faults := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "waypost_edge_click_panics_total",
		Help: "Panics while a click was counted; their visitors were answered. Must stay 0.",
	})
	reg.MustRegister(requests, latency, faults)
	m := &Metrics{faults: faults}
	for t, name := range [tiers]string{"none", "l1", "l2", "filter", "origin"} {
		m.latency[t] = latency.WithLabelValues(name)
		for _, status := range statuses {
			m.requests[t][status] = requests.WithLabelValues(name, strconv.Itoa(status))
		}
	}
	return m
}

func (m *Metrics) answered(t tier, status int, took time.Duration) {
	if status >= len(m.requests[t]) || m.requests[t][status] == nil {
		status = 500
	}
	m.requests[t][status].Inc()
	m.latency[t].Observe(took.Seconds())
}
