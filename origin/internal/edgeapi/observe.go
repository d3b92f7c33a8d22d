package edgeapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"waypost/shared/ops"
)

// idOfRequest is the key of a request's id in its context, a string.
type idOfRequest struct{}

func requestIDOf(ctx context.Context) string {
	id, _ := ctx.Value(idOfRequest{}).(string)
	return id
}

// metrics count requests by what the code knows: labels are patterns of routes
// and classes of statuses.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waypost_internal_requests_total", Help: "Requests of edges by route and class of status.",
		}, []string{"route", "class"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "waypost_internal_request_seconds", Help: "Time to answer a request of an edge, by route.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, []string{"route"}),
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.seconds)
	}
	return m
}

// observed gives each request its id and counts it, refused ones too.
func (h *handler) observed(mux *http.ServeMux, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		id := ops.RequestID(r.Header.Get("X-Request-Id"))
		w.Header().Set("X-Request-Id", id)
		out := &response{ResponseWriter: w}
		r = r.WithContext(context.WithValue(r.Context(), idOfRequest{}, id))
		defer func() {
			route := routeOf(mux, r)
			h.metrics.requests.WithLabelValues(route, out.class()).Inc()
			h.metrics.seconds.WithLabelValues(route).Observe(time.Since(start).Seconds())
		}()
		next.ServeHTTP(out, r)
	})
}

// routeOf is the pattern of a request's route: the one that the mux has noted in
// it, or would have if the request had come so far.
func routeOf(mux *http.ServeMux, r *http.Request) string {
	route := r.Pattern
	if route == "" {
		_, route = mux.Handler(r)
	}
	if route == "" {
		return "none"
	}
	return route
}

// response notes the status of an answer, 0 for none.
type response struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status.
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implies 200, as net/http has it.
func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) class() string {
	if w.status == 0 {
		return "none"
	}
	return strconv.Itoa(w.status/100) + "xx"
}
