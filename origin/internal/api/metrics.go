package api

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count requests by what the code knows: labels are patterns of routes
// and classes of statuses, nothing that a client sends.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waypost_api_requests_total", Help: "Requests to the admin API by route and class of status.",
		}, []string{"route", "class"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "waypost_api_request_seconds", Help: "Time to answer a request to the admin API, by route.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route"}),
	}
	reg.MustRegister(m.requests, m.seconds)
	return m
}

// observe counts a request; pattern is "" where no route matched, status is 0
// where nothing was sent.
func (m *metrics) observe(pattern string, status int, took time.Duration) {
	if pattern == "" {
		pattern = "none"
	}
	class := "none"
	if status > 0 {
		class = strconv.Itoa(status/100) + "xx"
	}
	m.requests.WithLabelValues(pattern, class).Inc()
	m.seconds.WithLabelValues(pattern).Observe(took.Seconds())
}
