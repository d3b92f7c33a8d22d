package ops

import (
	"fmt"
	"log"
	"net/http"
	"net/http/pprof" // also registers on the default mux, which no listener here serves
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	maxScrapes        = 4   // at once; more are answered 503
	maxProfileSeconds = 300 // of one profile or trace
)

func routes(health *Health, reg *prometheus.Registry, faults *log.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", serveAlive)
	mux.HandleFunc("GET /readyz", health.serveReady)
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{
		ErrorLog: faults,
		// One broken collector must not hide all other metrics.
		ErrorHandling:       promhttp.ContinueOnError,
		Registry:            reg,
		MaxRequestsInFlight: maxScrapes,
	}))
	mux.HandleFunc("GET /debug/pprof/", bounded(pprof.Index)) // heap, goroutine and so on by name
	var waits blocked
	for _, name := range []string{"block", "mutex"} {
		mux.HandleFunc("GET /debug/pprof/"+name, bounded(waits.while(pprof.Handler(name).ServeHTTP)))
	}
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", bounded(pprof.Profile))
	mux.HandleFunc("GET /debug/pprof/trace", bounded(pprof.Trace))
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol) // of go tool pprof
	return mux
}

// bounded refuses profiles that run for too long. A longer run than the write
// timeout is no concern here: net/http/pprof moves the write deadline by the
// seconds asked for.
func bounded(profile http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if text := r.URL.Query().Get("seconds"); text != "" {
			seconds, err := strconv.ParseFloat(text, 64)
			sane := seconds > 0 && seconds <= maxProfileSeconds // NaN is neither
			if err != nil || !sane {
				http.Error(w, fmt.Sprintf("seconds must be above 0 and at most %d", maxProfileSeconds), http.StatusBadRequest)
				return
			}
		}
		profile(w, r)
	}
}
