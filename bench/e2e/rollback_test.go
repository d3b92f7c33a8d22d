package e2e

import (
	"encoding/json"
	"net/http"
	"testing"

	"waypost/bench/fleet"
)

// The answer of a rollback says that both edges have it, and each answers with it at once, however hot it held what was
// before.
func TestARollbackIsSeenAtEveryEdgeOnceItIsAnswered(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{})
	api := f.API(t)
	l := api.MustCreate(t, fleet.Fields{"target": targetOf("rollback", 0)})
	targets := map[uint64]string{l.Version: l.Target}
	versions := []uint64{l.Version}
	for i := range 4 {
		changed := api.MustPatch(t, l, fleet.Fields{"target": targetOf("rollback", i+1)})
		targets[changed.Version] = changed.Target
		versions = append(versions, changed.Version)
	}
	conns := make([]*fleet.Conn, len(f.Edges))
	for i, e := range f.Edges {
		conns[i] = e.Dial(t)
	}
	newest := versions[len(versions)-1]
	for range long(5, 50) {
		for _, version := range versions {
			answer, err := api.Do(t.Context(), http.MethodPost, "/links/"+l.Code+"/rollback", fleet.Fields{"version": version})
			if r := wrote(t, answer, err); r.Ack != "edges" || r.Acked != len(f.Edges) {
				t.Fatalf("rollback to %d: receipt %+v, want all of %d edges", version, r, len(f.Edges))
			}
			var back fleet.Link
			if err := json.Unmarshal(answer.Body, &back); err != nil || back.Version <= newest || back.Target != targets[version] {
				t.Fatalf("rollback to %d: %s, %v, want a new version with %s", version, answer.Body, err, targets[version])
			}
			newest = back.Version
			for i, conn := range conns {
				for range 3 {
					r, err := conn.Ask(fleet.Request{Path: l.Path()})
					if err == nil {
						err = leads(r, targets[version])
					}
					if err != nil {
						t.Fatalf("%s after the rollback to %d: %v", f.Edges[i].Name, version, err)
					}
				}
			}
		}
	}
}
