package e2e

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"testing"

	"waypost/bench/fleet"
)

// What a reader of /docs pastes into a shell does what the page says.
func TestTheFirstDayOfTheDocs(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{})
	api := f.API(t)
	made, err := api.Do(t.Context(), http.MethodPost, "/keys", fleet.Fields{"owner": "newcomers", "scopes": []string{"links:read", "links:write", "stats:read"}})
	if err != nil || made.Status != http.StatusCreated {
		t.Fatalf("make a key: status %d, %v", made.Status, err)
	}
	var key struct{ Key string }
	if err := json.Unmarshal(made.Body, &key); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "./first_day.sh", "http://"+f.Origins[0].API, key.Key).CombinedOutput()
	if err != nil {
		t.Fatalf("first_day.sh: %v\n%s", err, out)
	}
	left, _, err := api.List(t.Context(), "owner=newcomers")
	if err != nil || len(left) != 0 {
		t.Errorf("links %v are left, %v, want none", left, err)
	}
}
