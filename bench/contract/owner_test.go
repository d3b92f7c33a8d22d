package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// owner makes things to call operations with, and has a key that is confined to them.
type owner struct {
	t     *testing.T
	stage *stage
	name  string
	mark  string // stands in what all links of the owner lead to, and in their titles; it is their tag
	key   string // may do everything that a confined key can do
}

func (s *stage) newOwner(t *testing.T) *owner {
	t.Helper()
	name := s.name("owner")
	o := &owner{t: t, stage: s, name: name, mark: "mark-of-" + name}
	o.key = s.newKey(t, name, "links:read", "links:write", "stats:read").text
	return o
}

// key is an API key as it was made.
type key struct{ id, text string }

// newKey makes a key that is confined to an owner, or, if that is "", to nobody. It is revoked at the test's end.
func (s *stage) newKey(t *testing.T, owner string, scopes ...string) key {
	t.Helper()
	body, _ := json.Marshal(map[string]any{"owner": owner, "scopes": scopes}) // texts
	made := s.do(t, request{method: http.MethodPost, path: "/keys", body: string(body)})
	if made.status != http.StatusCreated {
		t.Fatalf("make a key: status %d: %s", made.status, made.body)
	}
	k := key{id: made.text("id"), text: made.text("key")}
	t.Cleanup(func() {
		revoked, err := s.try(context.WithoutCancel(t.Context()), request{method: http.MethodDelete, path: "/keys/" + k.id})
		if err != nil || revoked.status != http.StatusNoContent && revoked.status != http.StatusNotFound {
			t.Errorf("revoke a key: status %d, %v", revoked.status, err)
		}
	})
	return k
}

// link is a link as it was made.
type link struct {
	code, etag string
	Domain     string
	Version    uint64
}

// link makes one; more are fields of the body besides what every link of the owner has.
func (o *owner) link(more ...string) link {
	o.t.Helper()
	code := o.stage.name("link")
	made := o.must("/links", o.body(append(more, fmt.Sprintf(`"alias": %q`, code))...))
	l := link{code: code, etag: made.header.Get("ETag")}
	if err := json.Unmarshal(made.body, &l); err != nil {
		o.t.Fatal(err)
	}
	return l
}

// changed is a link that was changed once, with the version and the tag that it had before.
func (o *owner) changed() link {
	o.t.Helper()
	l := o.link()
	r := request{method: http.MethodPatch, path: "/links/" + l.code, body: `{"title": "` + o.mark + ` too"}`}
	if a := o.stage.do(o.t, r); a.status != http.StatusOK {
		o.t.Fatalf("change a link: status %d: %s", a.status, a.body)
	}
	return l
}

// must makes something as the admin.
func (o *owner) must(path, body string) answer {
	o.t.Helper()
	made := o.stage.do(o.t, request{method: http.MethodPost, path: path, body: body})
	if made.status != http.StatusCreated {
		o.t.Fatalf("POST %s: status %d: %s", path, made.status, made.body)
	}
	return made
}

// body is that of a creation, with more fields.
func (o *owner) body(more ...string) string {
	fields := append([]string{
		fmt.Sprintf(`"target": "https://example.com/%s"`, o.mark), fmt.Sprintf(`"title": %q`, o.mark),
		fmt.Sprintf(`"owner": %q`, o.name), fmt.Sprintf(`"tags": [%q]`, o.mark),
	}, more...)
	return "{" + strings.Join(fields, ", ") + "}"
}
