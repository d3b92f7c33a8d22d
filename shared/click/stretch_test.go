package click

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// hour is a valid hour: n clicks, some of them with another referrer.
func hour(at int64, n uint64, referrers ...string) Hour {
	h := Hour{Hour: at, Clicks: n, Bots: n / 3}
	for d := range Dimension(Dimensions) {
		rest := n
		if d == ByReferrer {
			slices.Sort(referrers)
			for _, v := range referrers {
				h.Parts = append(h.Parts, Part{Dimension: d, Value: v, Clicks: 1})
				rest--
			}
		}
		if rest > 0 {
			h.Parts = append(h.Parts, Part{Dimension: d, Value: "~" + d.String(), Clicks: rest})
		}
	}
	return h
}

func recent(at int64) Recent {
	return Recent{At: at, Region: "eu", Referrer: "news.example", Device: "mobile", Browser: "chrome", OS: "android", Country: "DE", Bot: at%2 == 0}
}

func stretch() *Stretch {
	return &Stretch{
		Boot: "b00t", Region: "eu", From: 100, To: 900, Last: true,
		Links: []LinkClicks{{
			Link:   3,
			Hours:  []Hour{hour(490_000, 5, "a.example", "b.example"), hour(490_030, 1)},
			Days:   []Day{{Day: 20_416, Visitors: *sketchOf(visitors(0, 3)...)}, {Day: 20_417, Visitors: *sketchOf(visitors(0, 2_000)...)}},
			Newest: []Recent{recent(490_030 * microsecondsPerHour), recent(490_000*microsecondsPerHour + 1), recent(490_000*microsecondsPerHour + 1)},
		}, {
			Link:  1 << 63,
			Hours: []Hour{hour(490_000, 1<<40)},
		}},
		Orphans: []HourCount{{Hour: 490_000, Count: 7}, {Hour: 490_001, Count: 1}},
	}
}

func mustParse(t *testing.T, s *Stretch) *Stretch {
	t.Helper()
	b := s.Append(nil)
	got, err := ParseStretch(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Append(nil), b) {
		t.Fatal("a stretch has two forms")
	}
	return got
}

// same compares stretches with their sketches by what they hold.
func same(t *testing.T, got, want *Stretch) {
	t.Helper()
	if bytes.Equal(got.Append(nil), want.Append(nil)) {
		return
	}
	t.Errorf("got %+v, want %+v", got, want)
}

func TestAStretchIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]*Stretch{
		"full": stretch(), "a question": {Boot: "b", From: 5, To: 5}, "orphans alone": {Boot: "b", To: 9, Orphans: []HourCount{{Hour: 1, Count: 2}}},
	} {
		got := mustParse(t, want)
		same(t, got, want)
		for i := range want.Links { // the parts that are plain values, by value
			if !reflect.DeepEqual(got.Links[i].Hours, want.Links[i].Hours) || !reflect.DeepEqual(got.Links[i].Newest, want.Links[i].Newest) {
				t.Errorf("%s: got %+v, want %+v", name, got.Links[i], want.Links[i])
			}
		}
	}
	if got, want := stretch().Clicks(), uint64(6+1<<40); got != want {
		t.Errorf("got %d clicks, want %d", got, want)
	}
}

func TestAStretchOutOfOrderOrThatDoesNotAddUpIsRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*Stretch){
		"no boot":                 func(s *Stretch) { s.Boot = "" },
		"a boot too long":         func(s *Stretch) { s.Boot = string(make([]byte, MaxLabel+1)) },
		"backwards":               func(s *Stretch) { s.From = s.To + 1 },
		"links swapped":           func(s *Stretch) { slices.Reverse(s.Links) },
		"a link twice":            func(s *Stretch) { s.Links[1].Link = s.Links[0].Link },
		"a link without an hour":  func(s *Stretch) { s.Links[0].Hours = nil },
		"an hour twice":           func(s *Stretch) { s.Links[0].Hours[1].Hour = s.Links[0].Hours[0].Hour },
		"an hour without clicks":  func(s *Stretch) { s.Links[0].Hours[1] = Hour{Hour: 490_030} },
		"more bots than clicks":   func(s *Stretch) { s.Links[0].Hours[0].Bots = 6 },
		"parts that miss a click": func(s *Stretch) { s.Links[0].Hours[0].Clicks++ },
		"a dimension left out":    func(s *Stretch) { h := &s.Links[0].Hours[0]; h.Parts = h.Parts[1:] },
		"parts swapped":           func(s *Stretch) { p := s.Links[0].Hours[0].Parts; p[1], p[2] = p[2], p[1] },
		"a part twice":            func(s *Stretch) { p := s.Links[0].Hours[0].Parts; p[2].Value = p[1].Value },
		"a part without clicks":   func(s *Stretch) { p := s.Links[0].Hours[0].Parts; p[1].Clicks, p[2].Clicks = 0, p[2].Clicks+1 },
		"a count too large":       func(s *Stretch) { s.Links[1].Hours[0] = hour(490_000, maxCount+1) },
		"a day twice":             func(s *Stretch) { s.Links[0].Days[1].Day = s.Links[0].Days[0].Day },
		"a day without visitors":  func(s *Stretch) { s.Links[0].Days[0].Visitors = Sketch{} },
		"newest too many":         func(s *Stretch) { s.Links[0].Newest = make([]Recent, MaxNewest+1) },
		"newest too late":         func(s *Stretch) { s.Links[0].Newest = []Recent{recent(-1)} },
		"orphans twice":           func(s *Stretch) { s.Orphans[1].Hour = s.Orphans[0].Hour },
		"orphans of none":         func(s *Stretch) { s.Orphans[0].Count = 0 },
		"orphans too late":        func(s *Stretch) { s.Orphans[1].Hour = maxHour + 1 },
		"a value that is no text": func(s *Stretch) { s.Links[1].Hours[0].Parts[0].Value = "\xff" },
		"a value with a NUL":      func(s *Stretch) { s.Links[1].Hours[0].Parts[0].Value = "a\x00" },
		"a value too long":        func(s *Stretch) { s.Links[1].Hours[0].Parts[0].Value = string(bytes.Repeat([]byte{'x'}, 254)) },
	} {
		s := stretch()
		spoil(s)
		if got, err := ParseStretch(s.Append(nil)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

func TestADamagedStretchIsRefused(t *testing.T) {
	t.Parallel()
	s := stretch()
	s.Links[0].Days = s.Links[0].Days[:1] // a byte at a time over 16 KiB of registers takes long
	b := s.Append(nil)
	for n := range b {
		if _, err := ParseStretch(b[:n]); !errors.Is(err, ErrFormat) {
			t.Errorf("cut to %d of %d bytes: got %v", n, len(b), err)
		}
	}
	if _, err := ParseStretch(append(b, 0)); !errors.Is(err, ErrFormat) {
		t.Errorf("a byte too many: got %v", err)
	}
	if _, err := ParseStretch(make([]byte, MaxStretch+1)); !errors.Is(err, ErrFormat) {
		t.Errorf("too long: got %v", err)
	}
}

func TestAValueThatNothingRefersToIsRefused(t *testing.T) {
	t.Parallel()
	s := &Stretch{Boot: "b"}
	b := s.Append(nil)
	spoiled := append(bytes.Clone(b[:len(b)-3]), 1, 1, 'v', 0, 0) // a table of one value, no links, no orphans
	if _, err := ParseStretch(spoiled); !errors.Is(err, ErrFormat) {
		t.Errorf("got %v", err)
	}
}

func TestMergedStretchesAreTheSumOfBoth(t *testing.T) {
	t.Parallel()
	a := &Stretch{Boot: "b", Region: "eu", From: 0, To: 10, Links: []LinkClicks{
		{Link: 1, Hours: []Hour{hour(48, 4, "x.example")}, Days: []Day{{Day: 2, Visitors: *sketchOf(7, 9)}}, Newest: []Recent{recent(50)}},
		{Link: 2, Hours: []Hour{hour(48, 1)}},
	}, Orphans: []HourCount{{Hour: 48, Count: 1}}}
	b := &Stretch{Boot: "b", Region: "eu", From: 10, To: 30, Last: true, Links: []LinkClicks{
		{Link: 1, Hours: []Hour{hour(48, 3, "x.example", "y.example"), hour(49, 1)}, Days: []Day{{Day: 2, Visitors: *sketchOf(9, 11)}}, Newest: []Recent{recent(60), recent(40)}},
		{Link: 5, Hours: []Hour{hour(49, 2)}},
	}, Orphans: []HourCount{{Hour: 48, Count: 2}, {Hour: 49, Count: 3}}}
	if err := a.Merge(b); err != nil {
		t.Fatal(err)
	}
	both := hour(48, 7, "x.example", "y.example")
	both.Bots = 2
	for i := range both.Parts {
		switch p := &both.Parts[i]; p.Value {
		case "x.example":
			p.Clicks = 2
		case "~referrer":
			p.Clicks = 4
		}
	}
	want := &Stretch{Boot: "b", Region: "eu", From: 0, To: 30, Last: true, Links: []LinkClicks{
		{Link: 1, Hours: []Hour{both, hour(49, 1)}, Days: []Day{{Day: 2, Visitors: *sketchOf(7, 9, 11)}}, Newest: []Recent{recent(60), recent(50), recent(40)}},
		{Link: 2, Hours: []Hour{hour(48, 1)}},
		{Link: 5, Hours: []Hour{hour(49, 2)}},
	}, Orphans: []HourCount{{Hour: 48, Count: 3}, {Hour: 49, Count: 3}}}
	same(t, mustParse(t, a), want)
}

func TestStretchesThatDoNotFollowAreNotMerged(t *testing.T) {
	t.Parallel()
	base := Stretch{Boot: "b", Region: "eu", From: 0, To: 10}
	for name, next := range map[string]Stretch{
		"another boot":   {Boot: "c", Region: "eu", From: 10, To: 20},
		"another region": {Boot: "b", Region: "us", From: 10, To: 20},
		"a gap":          {Boot: "b", Region: "eu", From: 11, To: 20},
		"an overlap":     {Boot: "b", Region: "eu", From: 9, To: 20},
	} {
		s := base
		if err := s.Merge(&next); !errors.Is(err, ErrApart) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	ended := Stretch{Boot: "b", Region: "eu", To: 10, Last: true}
	if err := ended.Merge(&Stretch{Boot: "b", Region: "eu", From: 10, To: 20}); !errors.Is(err, ErrApart) {
		t.Errorf("after the last one: got %v", err)
	}
}

func TestTheReferrersWithTheMostClicksOfADayAreKept(t *testing.T) {
	t.Parallel()
	var few, many []string
	for i := range 2 * MaxReferrers {
		many = append(many, fmt.Sprintf("r%05d.example", i))
	}
	few = many[500:1_500] // two clicks on the day: these stay
	l := LinkClicks{Link: 1, Hours: []Hour{hour(24, 5_000, slices.Clone(many)...), hour(25, 5_000, slices.Clone(few)...), hour(48, 3, "r00000.example")}}
	for i := range 2 {
		l.Hours[i].Parts = slices.DeleteFunc(l.Hours[i].Parts, func(p Part) bool { return p.Value == "~referrer" })
		l.Hours[i].Clicks = uint64(len(l.Hours[i].Parts) - Dimensions + 1)
		l.Hours[i].Bots = 0
		for j := range l.Hours[i].Parts {
			if l.Hours[i].Parts[j].Dimension != ByReferrer {
				l.Hours[i].Parts[j].Clicks = l.Hours[i].Clicks
			}
		}
	}
	l.Bound()
	want := []uint64{1_000, 0, 0} // clicks that came to be Other
	for i, h := range l.Hours {
		var other, kept uint64
		for _, p := range partsOf(h.Parts, ByReferrer) {
			switch {
			case p.Value == Other:
				other = p.Clicks
			case i < 2 && !slices.Contains(few, p.Value):
				t.Errorf("hour %d: %s was kept", i, p.Value)
			default:
				kept += p.Clicks
			}
		}
		if other != want[i] || other+kept != h.Clicks {
			t.Errorf("hour %d: got %d other and %d kept of %d", i, other, kept, h.Clicks)
		}
	}
	mustParse(t, &Stretch{Boot: "b", Region: "eu", Links: []LinkClicks{l}})
}

// random makes one of two stretches of the same clicks in ways that differ, to
// compare what merging makes of them.
func random(rng *rand.Rand, from, to uint64) *Stretch {
	s := &Stretch{Boot: "b", Region: "eu", From: from, To: to}
	for link := range uint64(6) {
		if rng.IntN(3) == 0 {
			continue
		}
		l := LinkClicks{Link: link}
		for h := range int64(50) {
			if rng.IntN(10) == 0 {
				l.Hours = append(l.Hours, hour(h, 10, fmt.Sprintf("r%d.example", rng.IntN(4))))
			}
		}
		if len(l.Hours) == 0 {
			continue
		}
		l.Days = []Day{{Day: rng.Int64N(2), Visitors: *sketchOf(visitors(rng.IntN(500), 900)...)}}
		s.Links = append(s.Links, l)
	}
	return s
}

func TestMergingIsAssociative(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		parts := func() (a, b, c *Stretch) {
			rng := rand.New(rand.NewPCG(seed, 2))
			return random(rng, 0, 1), random(rng, 1, 2), random(rng, 2, 3)
		}
		a, b, c := parts()
		left := a
		if err := errors.Join(left.Merge(b), left.Merge(c)); err != nil {
			t.Fatal(err)
		}
		a, b, c = parts()
		if err := errors.Join(b.Merge(c), a.Merge(b)); err != nil {
			t.Fatal(err)
		}
		same(t, mustParse(t, a), left)
	}
}

func FuzzParseStretch(f *testing.F) {
	f.Add(stretch().Append(nil))
	f.Add((&Stretch{Boot: "b"}).Append(nil))
	small := stretch()
	small.Links[0].Days = nil
	f.Add(small.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseStretch(b)
		if err != nil {
			return
		}
		if !bytes.Equal(s.Append(nil), b) {
			t.Error("a stretch has two forms")
		}
		for i := range s.Links {
			for _, h := range s.Links[i].Hours {
				var sums [Dimensions]uint64
				for _, p := range h.Parts {
					sums[p.Dimension] += p.Clicks
				}
				for d, sum := range sums {
					if sum != h.Clicks {
						t.Errorf("%s: got %d, want %d", Dimension(d), sum, h.Clicks)
					}
				}
			}
		}
	})
}
