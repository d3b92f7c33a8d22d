package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// methodsAreTheDocumented asks every path what it knows, which is what the document has and what follows from it, and
// tries the others.
func (s *stage) methodsAreTheDocumented(t *testing.T) {
	known := make(map[string][]string)
	for _, op := range s.operations {
		known[op.path] = append(known[op.path], op.method)
		if op.method == http.MethodGet {
			known[op.path] = append(known[op.path], http.MethodHead)
		}
	}
	for path, methods := range known {
		methods = append(methods, http.MethodOptions)
		slices.Sort(methods)
		want := strings.Join(methods, ", ")
		asked := strings.NewReplacer("{", "", "}", "").Replace(path)
		a := s.do(t, request{method: http.MethodOptions, path: asked, anonymous: true})
		if got := a.header.Get("Allow"); a.status != http.StatusNoContent || got != want || len(a.body) > 0 {
			t.Errorf("OPTIONS %s: status %d, Allow %q, %d bytes, want 204, %q and none", path, a.status, got, len(a.body), want)
		}
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} {
			if slices.Contains(methods, method) {
				continue
			}
			a := s.do(t, request{method: method, path: asked})
			if got := a.header.Get("Allow"); a.status != http.StatusMethodNotAllowed || got != want || a.header.Get("Content-Type") != mediaProblem {
				t.Errorf("%s %s: status %d of type %s, Allow %q, want a problem, 405 and %q", method, path, a.status, a.header.Get("Content-Type"), got, want)
			}
		}
	}
}
