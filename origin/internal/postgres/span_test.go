package postgres

import (
	"testing"
	"time"

	"waypost/origin/internal/clicks"
)

func instant(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestRangesAreWidenedToWhatIsKept(t *testing.T) {
	t.Parallel()
	kept := instant(t, "2026-03-10T00:00:00Z")
	for _, tt := range []struct{ from, to, wantFrom, wantTo string }{
		{"2026-03-12T10:00:00Z", "2026-03-12T11:00:00Z", "2026-03-12T10:00:00Z", "2026-03-12T11:00:00Z"},
		{"2026-03-12T10:59:59Z", "2026-03-12T11:00:01Z", "2026-03-12T10:00:00Z", "2026-03-12T12:00:00Z"},
		{"2026-03-12T01:30:00+02:00", "2026-03-12T02:30:00+02:00", "2026-03-11T23:00:00Z", "2026-03-12T01:00:00Z"},
		{"2026-03-08T10:30:00Z", "2026-03-12T10:30:00Z", "2026-03-08T00:00:00Z", "2026-03-12T11:00:00Z"},
		{"2026-03-08T10:30:00Z", "2026-03-09T10:30:00Z", "2026-03-08T00:00:00Z", "2026-03-10T00:00:00Z"},
		{"2026-03-08T10:30:00Z", "2026-03-10T00:30:00Z", "2026-03-08T00:00:00Z", "2026-03-10T01:00:00Z"},
		{"2026-03-10T00:30:00Z", "2026-03-10T00:40:00Z", "2026-03-10T00:00:00Z", "2026-03-10T01:00:00Z"},
		{"2026-03-09T00:00:00Z", "2026-03-10T00:00:00Z", "2026-03-09T00:00:00Z", "2026-03-10T00:00:00Z"},
	} {
		got := widened(clicks.Range{From: instant(t, tt.from), To: instant(t, tt.to)}, kept)
		if !got.From.Equal(instant(t, tt.wantFrom)) || !got.To.Equal(instant(t, tt.wantTo)) || got.From.Location() != time.UTC {
			t.Errorf("[%s, %s): got [%v, %v), want [%s, %s)", tt.from, tt.to, got.From, got.To, tt.wantFrom, tt.wantTo)
		}
	}
}

func TestARangeIsWholeDaysAndHoursAtItsEnds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ from, to string }{
		{"2026-03-08T22:00:00Z", "2026-03-11T02:00:00Z"},
		{"2026-03-08T00:00:00Z", "2026-03-11T00:00:00Z"},
		{"2026-03-08T05:00:00Z", "2026-03-08T06:00:00Z"},
	} {
		r := clicks.Range{From: instant(t, tt.from), To: instant(t, tt.to)}
		var sum time.Duration
		days := touched(r)
		for midnight := days.From; midnight.Before(days.To); midnight = midnight.Add(day) {
			part := partOf(r, midnight)
			if got, want := covers(r, midnight), part.To.Sub(part.From) == day; got != want {
				t.Errorf("%v covers %v: got %v, want %v", r, midnight, got, want)
			}
			sum += part.To.Sub(part.From)
		}
		if sum != r.To.Sub(r.From) {
			t.Errorf("parts of %v add up to %v, want %v", r, sum, r.To.Sub(r.From))
		}
	}
}
