package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// ownersAreKeptApart tries every call of every operation, about things of one owner, with the key of another. What
// succeeds tells nothing of the first owner's, and afterwards all of that is as it was.
func (s *stage) ownersAreKeptApart(t *testing.T) {
	ann, bob := s.newOwner(t), s.newOwner(t)
	kept := []link{ann.clicked(), ann.link(`"expires_at": "2040-01-01T00:00:00Z"`), ann.link(`"domain": "` + domain + `"`)}
	before := ann.everything(kept)
	for _, op := range s.operations {
		for _, c := range ann.calls(op) {
			r := c.request(op, ann)
			r.key = bob.key
			a := s.do(t, r)
			if a.status != c.other || !strings.Contains(string(a.body), c.otherHas) {
				t.Errorf("%s by another owner's key, %s: status %d, want %d with %q: %.300s", op, c, a.status, c.other, c.otherHas, a.body)
			}
			if err := s.conform(op, a); err != nil {
				t.Errorf("%s by another owner's key: %v", op, err)
			}
			for _, told := range ann.found(a, kept) {
				if !strings.Contains(r.path+r.body, told) {
					t.Errorf("%s by another owner's key, %s: the answer tells of %s: %.500s", op, c, told, a.body)
				}
			}
		}
	}
	after := ann.everything(kept)
	for i, was := range before {
		if after[i] != was {
			t.Errorf("another owner's calls changed\n%s\nto\n%s", was, after[i])
		}
	}
}

// found are the marks and codes of the owner that an answer has in its body or headers.
func (o *owner) found(a answer, links []link) (all []string) {
	names := []string{o.mark}
	for _, l := range links {
		names = append(names, l.code)
	}
	text := fmt.Sprint(a.header) + string(a.body)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.Contains(text, name) })
}

// everything is what the owner can read of links: each of them, its clicks and their number.
func (o *owner) everything(links []link) (all []string) {
	o.t.Helper()
	read := func(path string) {
		a := o.stage.do(o.t, request{method: http.MethodGet, path: path, key: o.key})
		if a.status != http.StatusOK {
			o.t.Fatalf("GET %s: status %d: %s", path, a.status, a.body)
		}
		all = append(all, path+": "+a.header.Get("ETag")+string(a.body))
	}
	for _, l := range links {
		for _, what := range []string{"", "/clicks", "/stats"} {
			read("/links/" + l.code + what + "?domain=" + l.Domain)
		}
	}
	return all
}
