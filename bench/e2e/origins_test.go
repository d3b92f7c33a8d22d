package e2e

import (
	"encoding/json"
	"net/http"
	"testing"

	"waypost/bench/fleet"
)

// Launch starts all origins at once; each keeps the first admin key, if it made it, in a file of its own.
func TestTwoOriginsStartTogetherOnAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{Origins: 2, OriginEnv: map[string]string{"WAYPOST_DOMAINS": "go.example"}})
	if keys := f.AdminKeys(t); len(keys) != 1 {
		t.Fatalf("got %d admin keys, want 1", len(keys))
	}
	for _, o := range f.Origins {
		answer, err := f.APIOf(t, o).Do(t.Context(), http.MethodGet, "/keys", nil)
		if err != nil {
			t.Fatal(err)
		}
		var keys struct{ Items []json.RawMessage }
		if err := json.Unmarshal(answer.Body, &keys); err != nil || answer.Status != http.StatusOK || len(keys.Items) != 1 {
			t.Errorf("%s lists %d keys, status %d, %v: %s; want 1", o.Name, len(keys.Items), answer.Status, err, answer.Body)
		}
	}
	// Both wrote the domain's row; it has one position.
	heads, err := f.Origins[0].Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := heads.Seq[len(heads.Seq)-1]; got != 1 {
		t.Errorf("the config shard is at %d, want 1", got)
	}
	var links []fleet.Link
	for i := range 20 {
		made := f.APIOf(t, f.Origins[i%2]).MustCreate(t, fleet.Fields{"target": targetOf("together", i)})
		links = append(links, f.APIOf(t, f.Origins[(i+1)%2]).MustPatch(t, made, fleet.Fields{"target": targetOf("changed", i)}))
	}
	f.Settle(t)
	atEvery(f.Edges, func(e *fleet.Edge) { allLead(t, e, 4, links) })
}
