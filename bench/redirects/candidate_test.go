package redirects

import (
	"errors"
	"slices"
	"testing"
	"time"

	"waypost/bench/load"
)

func TestTurnsAreInterleavedAndTheFirstOnesLeftOut(t *testing.T) {
	t.Parallel()
	a, b := &Candidate{Name: "a"}, &Candidate{Name: "b"}
	var order []string
	turns, err := Interleave([]*Candidate{a, b}, 2, func(c *Candidate) (Turn, error) {
		order = append(order, c.Name)
		return Turn{Result: load.Result{Answers: len(order)}}, nil
	})
	if want := []string{"a", "b", "a", "b", "a", "b"}; err != nil || !slices.Equal(order, want) {
		t.Errorf("got %v, error %v, want %v", order, err, want)
	}
	if got := []int{turns[0][0].Answers, turns[1][0].Answers, turns[0][1].Answers, turns[1][1].Answers}; !slices.Equal(got, []int{3, 4, 5, 6}) || len(turns[0]) != 2 {
		t.Errorf("got the turns %v, want 3 4 5 6", got)
	}
	if got := Answers(turns[1]); got != 10 {
		t.Errorf("got %d answers, want 10", got)
	}
	broken := errors.New("broken")
	if _, err := Interleave([]*Candidate{a, b}, 2, func(*Candidate) (Turn, error) { return Turn{}, broken }); !errors.Is(err, broken) {
		t.Errorf("got error %v, want the turn's", err)
	}
}

func TestRatiosAreOfTurnsThatFollowEachOther(t *testing.T) {
	t.Parallel()
	turn := func(cpu time.Duration, answers int) Turn { return Turn{load.Result{Answers: answers}, cpu} }
	of := []Turn{turn(30*time.Millisecond, 1000), turn(40*time.Millisecond, 2000)}
	to := []Turn{turn(10*time.Millisecond, 1000), turn(10*time.Millisecond, 1000)}
	if got := Each(of, Turn.PerAnswer); !slices.Equal(got, []float64{30, 20}) {
		t.Errorf("got %v µs an answer, want 30 and 20", got)
	}
	if got := Ratios(of, to, Turn.PerAnswer); !slices.Equal(got, []float64{3, 2}) {
		t.Errorf("got the ratios %v, want 3 and 2", got)
	}
}
