package chaos

import (
	"net/http"
	"testing"
	"time"
)

func TestSumCountsPairsOfReadsAndWritesThatOverlap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		h    told
		want int
	}{
		{"none", told{NewHistory()}.write(1, 10, 20, live(1), "available", "commit"), 0},
		{"before it", told{NewHistory()}.write(1, 10, 20, live(1), "available", "commit").read(0, 1, 1, 9, absent(), false), 0},
		{"after it", told{NewHistory()}.write(1, 10, 20, live(1), "available", "commit").read(0, 1, 21, 30, live(1), false), 0},
		{"into it", told{NewHistory()}.write(1, 10, 20, live(1), "available", "commit").read(0, 1, 5, 15, absent(), false), 1},
		{"out of it", told{NewHistory()}.write(1, 10, 20, live(1), "available", "commit").read(0, 1, 15, 30, live(1), false), 1},
		{"around it", told{NewHistory()}.write(1, 10, 20, live(1), "available", "commit").read(0, 1, 5, 30, live(1), false), 1},
		{"within it", told{NewHistory()}.write(1, 10, 20, live(1), "available", "commit").read(0, 1, 12, 13, live(1), false), 1},
		{
			"one over three writes",
			told{NewHistory()}.write(1, 10, 20, live(1), "available", "commit").write(2, 30, 40, live(2), "available", "commit").
				write(3, 50, 60, live(3), "available", "commit").read(0, 1, 15, 55, live(2), false),
			3,
		},
		{
			"a write without an answer, until the next one",
			told{NewHistory()}.write(1, 10, 0, live(1), "available", "unknown").write(2, 30, 40, live(2), "available", "commit").
				read(0, 1, 25, 26, live(1), false),
			1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.h.h.Sum().Pairs; got != tt.want {
				t.Errorf("pairs: got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestSumOfTwoHistoriesIsThatOfBoth(t *testing.T) {
	t.Parallel()
	one := told{NewHistory()}.write(1, 10, 20, live(1), "available", "edges").read(0, 1, 15, 16, live(1), true).h.Sum()
	two := told{NewHistory()}.write(1, 10, 0, live(1), "available", "unknown").read(0, 1, 25, 26, Sight{Status: http.StatusServiceUnavailable}, false).h.Sum()
	want := Sum{Reads: 2, Marked: 1, Refused: 1, Outside: 2, Keys: 1, Writes: 2, Pairs: 1, Unknown: 1, Waited: 1}
	if got := one.plus(two); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSumDoesNotCountWhatNobodyWrote(t *testing.T) {
	t.Parallel()
	h := NewHistory()
	h.Passing(Write{Key: "k", N: 2, Shows: Sight{Status: http.StatusGone}}, time.Now(), time.Second)
	if got := h.Sum(); got.Writes != 0 || got.Waited != 0 {
		t.Errorf("got %+v, want no writes", got)
	}
}
