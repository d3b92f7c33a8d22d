package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"waypost/bench/fleet"
)

// The bound is longer than by default, so that a machine that stalls for a moment does not make an edge silent.
func TestWriteAcknowledgedByEdgesIsAnsweredByEachAtOnceAndACommitClaimsNone(t *testing.T) {
	t.Parallel()
	f := audited(t, fleet.Spec{Edges: []string{"eu", "eu", "us"}, OriginEnv: map[string]string{"WAYPOST_STALE_BOUND": "5s"}})
	api := f.API(t)
	const n = 50
	alias := func(i int) string { return fmt.Sprintf("acked-%d", i) }
	api.MustBulk(t, n, func(i int) fleet.Fields {
		return fleet.Fields{"alias": alias(i), "target": targetOf("made", i)}
	})
	conns := make([]*fleet.Conn, len(f.Edges))
	for i, e := range f.Edges {
		conns[i] = e.Dial(t)
	}
	read := func(what string, i int, check func(r fleet.Reply) error) {
		for at, conn := range conns {
			r, err := conn.Ask(fleet.Request{Path: "/" + alias(i)})
			if err == nil {
				err = check(r)
			}
			if err != nil {
				t.Fatalf("%s: %s of link %d: %v", f.Edges[at].Name, what, i, err)
			}
		}
	}
	for i := range n {
		read("creation", i, func(r fleet.Reply) error { return leads(r, targetOf("made", i)) })
	}
	for _, round := range []struct {
		name, method string
		body         func(i int) any
		status       int
	}{
		{"update", http.MethodPatch, func(i int) any { return fleet.Fields{"target": targetOf("update", i)} }, http.StatusFound},
		{"disable", http.MethodPatch, func(int) any { return fleet.Fields{"enabled": false} }, http.StatusGone},
		{"delete", http.MethodDelete, func(int) any { return nil }, http.StatusNotFound},
		{"create", http.MethodPost, func(i int) any {
			return fleet.Fields{"alias": alias(i), "target": targetOf("create", i)}
		}, http.StatusFound},
	} {
		for i := range n {
			path := "/links/" + alias(i)
			if round.method == http.MethodPost {
				path = "/links"
			}
			answer, err := api.Do(t.Context(), round.method, path, round.body(i))
			if r := wrote(t, answer, err); r.Ack != "edges" || r.Edges != len(f.Edges) || r.Acked != len(f.Edges) {
				t.Fatalf("%s of link %d: receipt %+v, want all of %d edges", round.name, i, r, len(f.Edges))
			}
			read(round.name, i, func(r fleet.Reply) error {
				if round.status == http.StatusFound {
					return leads(r, targetOf(round.name, i))
				}
				return isStatus(r, round.status)
			})
		}
	}
	committed(t, f, api)
	neverStale(t, f)
}

// committed checks that the receipt of a commit claims no edge.
func committed(t *testing.T, f *fleet.Fleet, api *fleet.API) {
	t.Helper()
	l := api.MustCreate(t, fleet.Fields{"target": "https://example.com/before"})
	answer, err := api.Do(t.Context(), http.MethodPatch, "/links/"+l.Code+"?ack=commit", fleet.Fields{"target": "https://example.com/after"})
	if r := wrote(t, answer, err); r.Ack != "commit" || r.Edges != 0 || r.Acked != 0 {
		t.Errorf("receipt %+v, want ack commit and no edges", r)
	}
	f.Settle(t)
	for _, e := range f.Edges {
		if err := leads(e.Get(t, l.Path()), "https://example.com/after"); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
}

// Whoever made the link may still be waiting for edges when another origin finds it.
func TestALinkThatIsFoundIsAcknowledgedByEdgesThroughEveryOrigin(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{Origins: 2, Edges: []string{"eu", "us"}})
	body := fleet.Fields{"target": targetOf("found", 0), "reuse": true}
	for i, o := range []*fleet.Origin{f.Origins[0], f.Origins[1], f.Origins[0]} {
		answer, err := f.APIOf(t, o).Do(t.Context(), http.MethodPost, "/links", body)
		if want := map[bool]int{true: http.StatusCreated, false: http.StatusOK}[i == 0]; answer.Status != want {
			t.Fatalf("call %d: status %d, want %d: %s", i, answer.Status, want, answer.Body)
		}
		if r := wrote(t, answer, err); r.Ack != "edges" || r.Edges != len(f.Edges) || r.Acked != len(f.Edges) {
			t.Errorf("call %d: receipt %+v, want all of %d edges", i, r, len(f.Edges))
		}
	}
}
