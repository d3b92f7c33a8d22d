package visitor

import (
	"crypto/sha256"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/dchest/siphash"

	"waypost/shared/click"
	"waypost/shared/feed"
)

func visitorOf(f *Facts, at int64, client netip.Addr, agent string) uint64 {
	r := click.Record{At: at}
	f.Describe(&Request{Client: client, Agent: []byte(agent)}, &r)
	return r.Visitor
}

func TestAVisitorIsOneOnAnyEdgeForADay(t *testing.T) {
	t.Parallel()
	here, there := newFacts(t), newFacts(t)
	for _, f := range []*Facts{here, there} {
		f.Learn([]feed.Salt{salt(today), salt(today + 1)})
	}
	first := visitorOf(here, today*microsADay, ann, firefox)
	if first == 0 {
		t.Fatal("got no visitor")
	}
	key := salt(today).Key
	address := ann.As16()
	agent := sha256.Sum256([]byte(firefox))
	hash := siphash.New(key[:16])
	hash.Write(slices.Concat(key[16:], address[:], agent[:8]))
	if want := hash.Sum64(); first != want {
		t.Errorf("got %x, want the hash %x", first, want)
	}
	for name, c := range map[string]struct {
		got  uint64
		same bool
	}{
		"at the day's end":   {visitorOf(here, (today+1)*microsADay-1, ann, firefox), true},
		"on another edge":    {visitorOf(there, noon, ann, firefox), true},
		"mapped address":     {visitorOf(here, noon, netip.MustParseAddr("::ffff:192.0.2.1"), firefox), true},
		"on the next day":    {visitorOf(here, (today+1)*microsADay, ann, firefox), false},
		"another address":    {visitorOf(here, noon, netip.MustParseAddr("192.0.2.2"), firefox), false},
		"another agent":      {visitorOf(here, noon, ann, firefox+" x"), false},
		"without an agent":   {visitorOf(here, noon, ann, ""), false},
		"without an address": {visitorOf(here, noon, netip.Addr{}, firefox), false},
	} {
		if c.got == 0 || (c.got == first) != c.same {
			t.Errorf("%s: got %x, want it to be the same as %x: %v", name, c.got, first, c.same)
		}
	}
}

func TestWithoutTheDaysSaltThereIsNoVisitor(t *testing.T) {
	t.Parallel()
	f := newFacts(t)
	if got := visitorOf(f, noon, ann, firefox); got != 0 {
		t.Errorf("got %x without any salt, want 0", got)
	}
	f.Learn([]feed.Salt{salt(today), salt(today + 1)})
	if got := visitorOf(f, noon-microsADay, ann, firefox); got != 0 {
		t.Errorf("got %x for the day before, want 0", got)
	}
	if got := visitorOf(f, noon, ann, firefox); got == 0 {
		t.Error("got 0 on the salt's own day")
	}
	if got := f.Stats().Unsalted; got != 2 {
		t.Errorf("counted %d visitors without a salt, want 2", got)
	}
}

func TestASaltIsForgottenAfterItsDay(t *testing.T) {
	t.Parallel()
	f := newFacts(t)
	f.Learn([]feed.Salt{salt(today), salt(today + 1)})
	f.Learn(nil) // an origin that has none yet takes none away
	if visitorOf(f, noon, ann, firefox) == 0 {
		t.Fatal("got no visitor")
	}
	f.Learn([]feed.Salt{salt(today + 1), salt(today + 2)})
	if got := visitorOf(f, noon, ann, firefox); got != 0 {
		t.Errorf("got %x by a salt that was handed out no more", got)
	}
	if got := visitorOf(f, noon+3*microsADay, ann, firefox); got != 0 || f.salts.held.Load() != nil {
		t.Errorf("got %x, and salts of days that are over are held: %v", got, f.salts.held.Load())
	}
}

func TestAgentsThatDifferBeyondTheBoundAreOne(t *testing.T) {
	t.Parallel()
	f := newFacts(t)
	f.Learn([]feed.Salt{salt(today)})
	long := strings.Repeat("a", maxAgent)
	if visitorOf(f, noon, ann, long) != visitorOf(f, noon, ann, long+"b") {
		t.Error("got two visitors, want one")
	}
}
