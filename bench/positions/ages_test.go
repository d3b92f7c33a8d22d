package positions

import (
	"testing"
	"time"
)

func TestAnAnswersAgeIsSinceTheFirstChangeItLacks(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	for _, tt := range []struct {
		name    string
		n       int
		invoked int
		want    time.Duration
	}{
		{"the newest", 2, 900, 0},
		{"older than what happened later", 1, 150, 0},
		{"lacks one", 1, 230, 30 * time.Millisecond},
		{"lacks two", 0, 230, 130 * time.Millisecond},
		{"ahead of what the writer knows", 3, 900, 0},
	} {
		a := NewAges()
		for _, ms := range []int{0, 100, 200} {
			a.Wrote("l", at(ms))
		}
		a.Read("l", tt.n, at(tt.invoked), false)
		a.Read("l", 0, at(5000), true)
		got, marked := a.Unmarked()
		if got.N() != 1 || got.Max() != tt.want || marked != 1 {
			t.Errorf("%s: got %s of %d, and %d marked, want %s of 1, and 1", tt.name, got.Max(), got.N(), marked, tt.want)
		}
	}
}
