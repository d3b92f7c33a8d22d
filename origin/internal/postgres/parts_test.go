package postgres

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"waypost/shared/click"
)

func sumOf(parts []click.Part, d click.Dimension) (sum uint64) {
	for _, p := range parts {
		if p.Dimension == d {
			sum += p.Clicks
		}
	}
	return sum
}

func valuesOf(parts []click.Part, d click.Dimension) (values []string) {
	for _, p := range parts {
		if p.Dimension == d {
			values = append(values, p.Value)
		}
	}
	return values
}

func TestPartsAreAddedUpByValue(t *testing.T) {
	t.Parallel()
	a := []click.Part{{Dimension: click.ByRegion, Value: "eu", Clicks: 3}, {Dimension: click.ByReferrer, Value: "b", Clicks: 3}}
	b := []click.Part{
		{Dimension: click.ByRegion, Value: "eu", Clicks: 2},
		{Dimension: click.ByReferrer, Value: "a", Clicks: 1},
		{Dimension: click.ByReferrer, Value: "c", Clicks: 1},
	}
	want := []click.Part{
		{Dimension: click.ByRegion, Value: "eu", Clicks: 5},
		{Dimension: click.ByReferrer, Value: "a", Clicks: 1},
		{Dimension: click.ByReferrer, Value: "b", Clicks: 3},
		{Dimension: click.ByReferrer, Value: "c", Clicks: 1},
	}
	for name, got := range map[string][]click.Part{"a and b": mergeParts(a, b), "b and a": mergeParts(b, a)} {
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if a[0].Clicks != 3 || b[0].Clicks != 2 {
		t.Errorf("the parts added up have changed: %v, %v", a, b)
	}
}

func TestARowTellsSoManyReferrersApart(t *testing.T) {
	t.Parallel()
	var sum tally
	clicks := uint64(0)
	// Each time the same popular ones and some that come once.
	for round := range uint64(30) {
		var parts []click.Part
		for i := range uint64(900) {
			parts = append(parts, click.Part{Dimension: click.ByReferrer, Value: fmt.Sprintf("popular-%03d.example", i), Clicks: 2})
		}
		for i := range uint64(20) {
			parts = append(parts, click.Part{Dimension: click.ByReferrer, Value: fmt.Sprintf("rare-%d-%d.example", round, i), Clicks: 1})
		}
		slices.SortFunc(parts, compareParts)
		sum.add(1820, 0, parts)
		clicks += 1820
		sum = sum.bounded()
		if n := len(sum.parts); n > click.MaxReferrers+1 {
			t.Fatalf("round %d: %d referrers", round, n)
		}
		if !slices.IsSortedFunc(sum.parts, compareParts) {
			t.Fatalf("round %d: parts are out of order", round)
		}
	}
	if got := sumOf(sum.parts, click.ByReferrer); got != clicks || sum.clicks != clicks {
		t.Errorf("referrers add up to %d of %d, want %d", got, sum.clicks, clicks)
	}
	for _, p := range sum.parts {
		if strings.HasPrefix(p.Value, "popular") && p.Clicks != 60 {
			t.Errorf("%s has %d clicks, want 60", p.Value, p.Clicks)
		}
	}
	if !slices.Contains(valuesOf(sum.parts, click.ByReferrer), click.Other) {
		t.Error("nothing is counted as other")
	}
}

func TestEachDimensionHasItsOwnBound(t *testing.T) {
	t.Parallel()
	var parts []click.Part
	long := strings.Repeat("x", click.MaxReferrer-8)
	for i := range 1000 {
		parts = append(parts, click.Part{Dimension: click.ByRegion, Value: "eu", Clicks: 1})
		parts = append(parts, click.Part{Dimension: click.ByReferrer, Value: fmt.Sprintf("%08d%s", i, long), Clicks: 1})
		parts = append(parts, click.Part{Dimension: click.ByLanguage, Value: fmt.Sprintf("l%d", i), Clicks: 1})
	}
	var all []click.Part
	for _, p := range parts {
		all = mergeParts(all, []click.Part{p})
	}
	got := tally{clicks: 1000, parts: all}.bounded()
	for d, want := range map[click.Dimension]int{
		click.ByRegion:   1,
		click.ByReferrer: maxPartBytes/click.MaxReferrer + 1, // as long as they are
		click.ByLanguage: click.MaxLanguages + 1,
	} {
		if n, sum := len(valuesOf(got.parts, d)), sumOf(got.parts, d); n != want || sum != 1000 {
			t.Errorf("by %v: %d values of %d clicks, want %d of 1000", d, n, sum, want)
		}
	}
	again := got.bounded()
	if !slices.Equal(again.parts, got.parts) {
		t.Error("bounding what is bounded has changed it")
	}
}

func TestPartsThatDoNotAddUpAreOfUnknownClicks(t *testing.T) {
	t.Parallel()
	with := func(change func(parts []click.Part) []click.Part) []byte { return packParts(change(unknownParts(7))) }
	for name, packed := range map[string][]byte{
		"nothing":               nil,
		"the format alone":      {packedFormat},
		"another format":        append([]byte{packedFormat + 1}, packParts(unknownParts(7))[1:]...),
		"cut short":             packParts(unknownParts(7))[:20],
		"of another number":     packParts(unknownParts(8)),
		"a dimension too small": with(func(p []click.Part) []click.Part { p[3].Clicks--; return p }),
		"a dimension is gone":   with(func(p []click.Part) []click.Part { return slices.Delete(p, 3, 4) }),
		"a dimension too many": with(func(p []click.Part) []click.Part {
			return append(p, click.Part{Dimension: click.Dimension(click.Dimensions), Clicks: 7})
		}),
		"out of order": with(func(p []click.Part) []click.Part { p[0], p[1] = p[1], p[0]; return p }),
	} {
		if got, ok := partsOf(packed, 7); ok || !slices.Equal(got, unknownParts(7)) {
			t.Errorf("%s: got %v, ok %v, want 7 unknown ones", name, got, ok)
		}
	}
	for d := range click.Dimension(click.Dimensions) {
		if got := sumOf(unknownParts(7), d); got != 7 {
			t.Errorf("unknown clicks by %v add up to %d, want 7", d, got)
		}
	}
	if got, ok := partsOf(packParts(unknownParts(7)), 7); !ok || !slices.Equal(got, unknownParts(7)) {
		t.Errorf("whole ones: got %v, ok %v", got, ok)
	}
}

func FuzzPacked(f *testing.F) {
	f.Add(packParts(unknownParts(1 << 40)))
	f.Add(packNewest([]click.Recent{{At: 1 << 50, Region: "eu", Referrer: "a.example", Bot: true}}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if parts, clicks, err := unpackParts(b); err == nil {
			again, same, err := unpackParts(packParts(parts))
			if err != nil || !slices.Equal(again, parts) || same != clicks || !slices.IsSortedFunc(parts, compareParts) {
				t.Errorf("parts %v came back as %v, %v", parts, again, err)
			}
		}
		if newest, err := unpackNewest(b); err == nil && len(b) > 0 {
			packed := packNewest(newest)
			again, err := unpackNewest(packed)
			if err != nil || !bytes.Equal(packNewest(again), packed) {
				t.Errorf("clicks %v came back as %v, %v", newest, again, err)
			}
		}
	})
}
