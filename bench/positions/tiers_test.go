package positions

import (
	"net/http"
	"testing"

	"waypost/bench/fleet"
)

func TestATiersShareIsOfTheAnswersThatAreAskedFor(t *testing.T) {
	t.Parallel()
	counted := Tiers{}
	for tier, n := range map[string]int{"l1": 6, "l2": 3, "origin": 1} {
		for range n {
			counted.count(fleet.Reply{Header: http.Header{"Cache-Status": {"waypost-eu; hit; detail=" + tier}}})
		}
	}
	sum := Tiers{"l1": 10}
	sum.add(counted, Tiers{})
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"of all", counted.Share("l1"), 60},
		{"of some", counted.Share("l2", "l2", "origin", "filter"), 75},
		{"of none", Tiers{}.Share("l1"), 0},
		{"of the sum", sum.Share("l1"), 80},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %v %%, want %v %%", tt.name, tt.got, tt.want)
		}
	}
}
