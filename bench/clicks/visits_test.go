package clicks

import (
	"strings"
	"testing"

	"waypost/bench/fleet"
)

func TestVisitsAreThoseOfPopularLinksMostOften(t *testing.T) {
	t.Parallel()
	links := []fleet.Link{{Code: "first"}, {Code: "second"}, {Code: "third"}}
	times := map[string]int{}
	for _, v := range Visits(1, links, 1000, 16) {
		path, _, _ := strings.Cut(strings.TrimPrefix(string(v.Request), "GET "), " ")
		times[path]++
	}
	if times["/first"] <= times["/second"] || times["/second"] <= times["/third"] || times["/third"] == 0 {
		t.Errorf("got %v, want the first link more often than the second, and that than the third", times)
	}
}
