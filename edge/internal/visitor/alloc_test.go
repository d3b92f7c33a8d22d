//go:build !race

package visitor

import (
	"testing"

	"waypost/shared/click"
	"waypost/shared/feed"
)

func TestDescribingAVisitorLikeOneBeforeDoesNotAllocate(t *testing.T) {
	f := newFacts(t)
	f.Learn([]feed.Salt{salt(today), salt(today + 1)})
	f.countries.file = countryFile(t)
	f.countries.load(t.Context())
	from, r := visit(), click.Record{At: noon}
	f.Describe(&from, &r)
	if got := testing.AllocsPerRun(10_000, func() { f.Describe(&from, &r) }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
	if r.Visitor == 0 || r.Country != "DE" || r.Referrer == "" || r.Language == "" {
		t.Errorf("got %+v, want all of it described", r)
	}
}
