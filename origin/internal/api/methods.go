package api

import (
	"net/http"
	"slices"
	"strings"
)

// methods are those that the path of the request knows, in order and separated
// by ", "; "" where there is nothing at the path.
func (a *API) methods(r *http.Request) string {
	// Asked for a method that no route has, the mux tells those of the path.
	asked := *r
	asked.Method = http.MethodOptions
	h, _ := a.mux.Handler(&asked)
	answer := verdict{header: make(http.Header)}
	h.ServeHTTP(&answer, &asked)
	if answer.status != http.StatusMethodNotAllowed {
		return ""
	}
	all := append(strings.Split(answer.header.Get("Allow"), ", "), http.MethodOptions)
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// options answers OPTIONS, which needs no key, with the path's methods: to a
// browser's preflight too, whose page's origin is allowed or not. A page sends one
// for almost every call it makes, so they have a bucket of their own: calls that
// guess at keys are counted apart.
func (a *API) options(w http.ResponseWriter, r *http.Request, methods string) {
	if wait, ok := a.preflights.take(a.address(r)); !ok {
		tooMany(wait, "too many OPTIONS requests from this address").write(w)
		return
	}
	w.Header().Set("Allow", methods)
	allowed := w.Header().Get("Access-Control-Allow-Origin") != ""
	if allowed && r.Header.Get("Access-Control-Request-Method") != "" {
		preflight(w.Header(), methods)
	}
	w.WriteHeader(http.StatusNoContent)
}

// verdict keeps status and headers of an answer and drops its body.
type verdict struct {
	header http.Header
	status int
}

// Header returns the headers of the answer.
func (v *verdict) Header() http.Header { return v.header }

// WriteHeader notes the status.
func (v *verdict) WriteHeader(status int) { v.status = status }

// Write drops b.
func (v *verdict) Write(b []byte) (int, error) { return len(b), nil }
