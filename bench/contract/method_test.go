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
	for _, at := range s.operations {
		asked := strings.NewReplacer("{", "", "}", "").Replace(at.path)
		methods := []string{http.MethodOptions}
		for _, op := range s.operations {
			if !op.takes(asked) {
				continue
			}
			if methods = append(methods, op.method); op.method == http.MethodGet {
				methods = append(methods, http.MethodHead)
			}
		}
		slices.Sort(methods)
		want := strings.Join(methods, ", ")
		a := s.do(t, request{method: http.MethodOptions, path: asked, anonymous: true})
		if got := a.header.Get("Allow"); a.status != http.StatusNoContent || got != want || len(a.body) > 0 {
			t.Errorf("OPTIONS %s: status %d, Allow %q, %d bytes, want 204, %q and none", asked, a.status, got, len(a.body), want)
		}
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} {
			if slices.Contains(methods, method) {
				continue
			}
			a := s.do(t, request{method: method, path: asked})
			if got := a.header.Get("Allow"); a.status != http.StatusMethodNotAllowed || got != want || a.header.Get("Content-Type") != mediaProblem {
				t.Errorf("%s %s: status %d of type %s, Allow %q, want a problem, 405 and %q", method, asked, a.status, a.header.Get("Content-Type"), got, want)
			}
		}
	}
}

// takes reports whether the path is the operation's: /links/bulk is also that of a link with this code.
func (op *operation) takes(path string) bool {
	template, parts := strings.Split(op.path, "/"), strings.Split(path, "/")
	return slices.EqualFunc(template, parts, func(a, b string) bool { return a == b || strings.HasPrefix(a, "{") })
}
