package contract

import (
	"net/http"
	"testing"
)

// scopes are all that a key can have.
var scopes = []string{"links:read", "links:write", "stats:read", "admin"}

// other is a scope which does not include this one.
func other(scope string) string {
	if scope == "links:read" {
		return "stats:read"
	}
	return "links:read"
}

// scopesAreKeptApart tries every operation with a key of each single scope: it is 403 but for the one that the document
// names, and admin.
func (s *stage) scopesAreKeptApart(t *testing.T) {
	o := s.newOwner(t)
	keys := make(map[string]string)
	for _, scope := range scopes {
		keys[scope] = s.newKey(t, "", scope).text
	}
	for _, op := range s.operations {
		refused := o.calls(op)
		if len(refused) == 0 {
			continue
		}
		for _, scope := range scopes {
			c, want := refused[0], http.StatusForbidden
			if scope == op.scope() || scope == "admin" {
				c = o.calls(op)[0] // what is needed may be there but once
				want = c.status
			}
			r := c.request(op, o)
			r.key = keys[scope]
			a := s.do(t, r)
			if a.status != want {
				t.Errorf("%s with the scope %s alone: status %d, want %d: %.300s", op, scope, a.status, want, a.body)
			}
			if err := s.conform(op, a); err != nil {
				t.Errorf("%s with the scope %s alone: %v", op, scope, err)
			}
		}
	}
}
