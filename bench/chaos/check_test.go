package chaos

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// told is a history as a test tells it; times are in milliseconds.
type told struct{ h *History }

func (h told) write(n int, from, to int, shows Sight, class string, acked string) told {
	w := h.h.Write(Write{Key: "k", N: n, Kind: "change", Shows: shows, Strict: class == "strict", Invoked: at0(from)})
	if acked != "unknown" {
		w.Known, w.Answered, w.Edges = true, at0(to), acked == "edges"
	}
	return h
}

func (h told) read(edge, boot, from, to int, shows Sight, marked bool) told {
	h.h.Read(Read{Edge: edge, Boot: boot, Key: "k", Invoked: at0(from), Answered: at0(to), Sight: shows, Marked: marked})
	return h
}

// passing is what time does to the link, at an instant, told to within 10 ms.
func (h told) passing(n int, at int, shows Sight, class string) told {
	h.h.Passing(Write{Key: "k", N: n, Kind: "end", Shows: shows, Strict: class == "strict"}, h.h.start.Add(at0(at)), at0(10))
	return h
}

func at0(millis int) time.Duration { return time.Duration(millis) * time.Millisecond }

func live(version int) Sight { return Sight{Status: http.StatusFound, Version: version} }

func TestCheck(t *testing.T) {
	t.Parallel()
	gone := Sight{Status: http.StatusGone}
	dark := Sight{Status: http.StatusServiceUnavailable}
	begin := func() told { return told{NewHistory()}.write(1, 0, 10, live(1), "available", "commit") }
	strict := func() told { return told{NewHistory()}.write(1, 0, 10, live(1), "strict", "edges") }
	tests := []struct {
		name string
		h    told
		want []string
	}{
		{"what was acknowledged is read", begin().read(0, 1, 2000, 2001, live(1), false), nil},
		{"old within the bound", begin().write(2, 20, 30, live(2), "available", "commit").read(0, 1, 1030, 1040, live(1), false), nil},
		{"old beyond the bound", begin().write(2, 20, 30, live(2), "available", "commit").read(0, 1, 1031, 1040, live(1), false), []string{C1}},
		{"old beyond the bound, marked", begin().write(2, 20, 30, live(2), "available", "commit").read(0, 1, 5000, 5001, live(1), true), []string{C5}},
		{"old, the newer write is not known to have happened", begin().write(2, 20, 0, live(2), "available", "unknown").read(0, 1, 5000, 5001, live(1), false), nil},
		{"new of a write that is not known to have happened", begin().write(2, 20, 0, live(2), "available", "unknown").read(0, 1, 25, 26, live(2), false), nil},
		{"unknown write seen, then not", begin().write(2, 20, 0, live(2), "available", "unknown").read(0, 1, 25, 26, live(2), false).read(0, 1, 27, 28, live(1), false), []string{C2}},
		{"disabled and still led", begin().write(2, 20, 30, gone, "available", "commit").read(0, 1, 1031, 1040, live(1), false), []string{C1}},
		{"enabled and still gone", begin().write(2, 20, 30, gone, "available", "commit").write(3, 40, 50, live(3), "available", "commit").read(0, 1, 1051, 1060, gone, false), []string{C1}},
		{"gone by a later write that has only begun", begin().write(2, 20, 30, gone, "available", "commit").write(3, 40, 50, live(3), "available", "commit").write(4, 1000, 1100, gone, "available", "commit").read(0, 1, 1051, 1060, gone, false), nil},

		{"backwards on one edge", begin().write(2, 20, 30, live(2), "available", "commit").read(0, 1, 40, 41, live(2), false).read(0, 1, 42, 43, live(1), false), []string{C2}},
		{"other edges may be behind", begin().write(2, 20, 30, live(2), "available", "commit").read(0, 1, 40, 41, live(2), false).read(1, 1, 42, 43, live(1), false), nil},
		{"reads that overlap have no order", begin().write(2, 20, 30, live(2), "available", "commit").read(0, 1, 40, 45, live(2), false).read(0, 1, 42, 50, live(1), false), nil},
		{"a marked read backwards within one boot", begin().write(2, 20, 30, live(2), "available", "commit").read(0, 1, 40, 41, live(2), false).read(0, 1, 42, 43, live(1), true), []string{C2, C5}},
		{"a marked read backwards after a boot", begin().write(2, 20, 30, live(2), "available", "commit").read(0, 1, 40, 41, live(2), false).read(0, 2, 42, 43, live(1), true), []string{C5}},
		{"an unmarked read backwards after a boot", begin().write(2, 20, 30, live(2), "available", "commit").read(0, 1, 40, 41, live(2), false).read(0, 2, 42, 43, live(1), false), []string{C2}},
		{
			"backwards between sights that many writes share",
			begin().write(2, 20, 30, gone, "available", "commit").write(3, 40, 50, live(3), "available", "commit").write(4, 60, 70, gone, "available", "commit").
				read(0, 1, 42, 43, live(3), false).read(0, 1, 61, 62, gone, false).read(0, 1, 63, 64, live(3), false),
			[]string{C2},
		},

		{"old after ack=edges", begin().write(2, 20, 30, live(2), "available", "edges").read(1, 1, 31, 32, live(1), false), []string{C3}},
		{"old before the answer of ack=edges", begin().write(2, 20, 30, live(2), "available", "edges").read(1, 1, 30, 32, live(1), false), nil},
		{"old after ack=edges, marked", begin().write(2, 20, 30, live(2), "available", "edges").read(1, 1, 31, 32, live(1), true), []string{C5}},
		{"a strict link old after ack=edges, marked", strict().write(2, 20, 30, gone, "strict", "edges").read(1, 1, 31, 32, live(1), true), []string{C3, C5}},
		{"a strict link dark after ack=edges", strict().write(2, 20, 30, gone, "strict", "edges").read(1, 1, 31, 32, dark, false), []string{C5}},

		{"unknown though made", begin().read(0, 1, 1011, 1012, absent(), false), []string{C1, C4}},
		{"unknown though made, marked", begin().read(0, 1, 1011, 1012, absent(), true), []string{C4, C5}},
		{"unknown for the bound", begin().read(0, 1, 1010, 1012, absent(), false), nil},
		{"unknown after ack=edges", strict().read(0, 1, 11, 12, absent(), false), []string{C3, C4}},
		{"unknown because deleted", begin().write(2, 20, 30, absent(), "available", "commit").read(0, 1, 1500, 1501, absent(), false), nil},
		{"unknown because a deletion has begun", begin().write(2, 1400, 1600, absent(), "available", "commit").read(0, 1, 1500, 1501, absent(), false), nil},
		{"unknown because a deletion may have happened", begin().write(2, 20, 0, absent(), "available", "unknown").read(0, 1, 1500, 1501, absent(), false), nil},

		{"ended and still led", begin().passing(2, 100, gone, "available").read(0, 1, 111, 112, live(1), false), []string{C3}},
		{"ended and still led, marked", begin().passing(2, 100, gone, "available").read(0, 1, 111, 112, live(1), true), []string{C5}},
		{"a strict link ended and still led, marked", strict().passing(2, 100, gone, "strict").read(0, 1, 111, 112, live(1), true), []string{C3, C5}},
		{"about to end, and just ended", begin().passing(2, 100, gone, "available").read(0, 1, 110, 112, live(1), false).read(1, 1, 90, 91, gone, false), nil},
		{"ended too early", begin().passing(2, 100, gone, "available").read(0, 1, 88, 89, gone, false), []string{C0}},
		{"ended, then not", begin().passing(2, 100, gone, "available").read(0, 1, 95, 96, gone, false).read(0, 1, 97, 98, live(1), false), []string{C2}},
		{
			"begun and still unknown",
			told{NewHistory()}.write(1, 0, 10, absent(), "available", "commit").passing(2, 100, live(2), "available").read(0, 1, 111, 112, absent(), false),
			[]string{C3, C4},
		},

		{"a target that nobody wrote", begin().read(0, 1, 20, 21, Sight{Status: http.StatusFound, Version: alien}, false), []string{C0}},
		{"a target before it was written", begin().write(2, 20, 30, live(2), "available", "commit").read(0, 1, 18, 19, live(2), false), []string{C0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, v := range Check(tt.h.h, bound) {
				got = append(got, v.Check)
			}
			if !slices.Equal(got, tt.want) && !slices.Equal(sorted(got), tt.want) {
				t.Errorf("violations: got %v, want %v\n%s", got, tt.want, tt.h.h.Print(Violation{Key: "k", Read: Read{Answered: time.Hour}}))
			}
		})
	}
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}

func TestCheckCountsUnmarkedReadsOutsideFaultsOnly(t *testing.T) {
	t.Parallel()
	const reads = 2000
	tests := []struct {
		name   string
		marked int // the first so many reads
		fault  Fault
		want   int // violations
	}{
		{"one in a thousand", 2, Fault{}, 0},
		{"more than that", 3, Fault{}, 1},
		{"more than that in a fault", 500, Fault{From: at0(20), Until: at0(20 + 500)}, 0},
		{"more than that around a fault", 500, Fault{From: at0(20), Until: at0(20 + 490)}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := told{NewHistory()}.write(1, 0, 10, live(1), "available", "commit")
			for i := range reads {
				h.read(0, 1, 20+i, 20+i, live(1), i < tt.marked)
			}
			h.h.Fault(tt.fault)
			found := Check(h.h, bound)
			if len(found) != tt.want || tt.want == 1 && found[0].Check != C5 {
				t.Errorf("got %v, want %d of %s", found, tt.want, C5)
			}
		})
	}
}

func TestPrintShowsTheHistoryOfTheKey(t *testing.T) {
	t.Parallel()
	h := told{NewHistory()}.write(1, 0, 10, live(1), "available", "commit").write(2, 20, 30, live(2), "available", "edges")
	for i := range 10 {
		h.read(0, 1, 12+i, 12+i, live(1), false)
	}
	h.read(1, 1, 2000, 2001, live(1), false)
	found := Check(h.h, bound)
	if len(found) == 0 {
		t.Fatal("nothing found")
	}
	got := h.h.Print(found[0])
	for _, want := range []string{
		"[0.0 ms..10.0 ms] write 1, change of a link that is available: 302 /1, committed\n",
		"write 2, change of a link that is available: 302 /2, ack=edges",
		"[12.0 ms..12.0 ms] edge 0 boot 1: 302 /1, and 9 more until 21.0 ms\n",
		"edge 1 boot 1: 302 /1   <== C1\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("print lacks %q:\n%s", want, got)
		}
	}
}
