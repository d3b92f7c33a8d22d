package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"waypost/bench/fleet"
)

// purge calls POST /purge and checks its receipt and what it says to have purged; -1: null.
func purge(t *testing.T, f *fleet.Fleet, api *fleet.API, body fleet.Fields, want int) {
	t.Helper()
	answer, err := api.Do(t.Context(), http.MethodPost, "/purge", body)
	r := wrote(t, answer, err)
	if r.Ack != "edges" || r.Edges != len(f.Edges) || r.Acked != len(f.Edges) {
		t.Errorf("purge %v: receipt %+v, want all of %d edges", body, r, len(f.Edges))
	}
	count := "null"
	if want >= 0 {
		count = fmt.Sprint(want)
	}
	if !strings.Contains(string(answer.Body), `"purged":`+count) {
		t.Errorf("purge %v: %s, want %s links", body, answer.Body, count)
	}
}

func TestPurgeMakesEveryEdgeFetchAgain(t *testing.T) {
	t.Parallel()
	f := audited(t, fleet.Spec{OriginEnv: map[string]string{"WAYPOST_STALE_BOUND": "5s"}})
	api := f.API(t)
	coded := numbered(t, api, "coded", 10)
	tagged := api.MustBulk(t, 10, func(i int) fleet.Fields {
		return fleet.Fields{"target": targetOf("tagged", i), "tags": []string{"spring"}}
	})
	var codes []string
	for _, l := range coded {
		codes = append(codes, l.Code)
	}
	all := slices.Concat(coded, tagged)
	hot := func() {
		for range 2 {
			atEvery(f.Edges, func(e *fleet.Edge) { allLead(t, e, 4, all) })
		}
	}
	for _, c := range []struct {
		name   string
		body   fleet.Fields
		count  int
		purged []fleet.Link
		spared []fleet.Link
	}{
		{name: "codes", body: fleet.Fields{"codes": codes}, count: 10, purged: coded, spared: tagged},
		{name: "tag", body: fleet.Fields{"tag": "spring"}, count: 10, purged: tagged, spared: coded},
		{name: "all", body: fleet.Fields{"all": true}, count: -1, purged: all},
	} {
		hot()
		purge(t, f, api, c.body, c.count)
		atEvery(f.Edges, func(e *fleet.Edge) {
			noErrors(t, e.Run(t.Context(), fleet.Load{
				Conns: 2, N: len(c.purged),
				Request: func(i int) fleet.Request { return fleet.Request{Path: c.purged[i].Path()} },
				Check: func(i int, r fleet.Reply) error {
					if tier := r.Tier(); tier != "origin" {
						return fmt.Errorf("purge of %s: from %q, want it fetched", c.name, tier)
					}
					return leads(r, c.purged[i].Target)
				},
			}))
			if len(c.spared) > 0 {
				allLead(t, e, 2, c.spared)
			}
		})
	}
	neverStale(t, f)
}
