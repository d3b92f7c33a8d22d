package redirects

import (
	"fmt"
	"time"

	"waypost/bench/load"
	"waypost/bench/measure"
)

// Candidate is a server that is measured beside others, and the load that asks it.
type Candidate struct {
	Name string
	PIDs []int // of the processes whose use, with their children's, is what it costs
	Load *load.Generator

	// Settle waits until what so many answers left to do is done: that is part of what they cost. Nil: they leave nothing.
	Settle func(answers int)
}

// Turn is what a candidate was asked at a stretch.
type Turn struct {
	load.Result
	CPU time.Duration // that its processes used for it, in user and in kernel mode
}

// PerAnswer is the CPU of an answer, in microseconds.
func (t Turn) PerAnswer() float64 { return t.CPU.Seconds() * 1e6 / float64(t.Answers) }

// Quantile is load.Times.Quantile of the answers of all classes, in microseconds.
func (t Turn) Quantile(q float64) float64 { return t.Times().Quantile(q).Seconds() * 1e6 }

// Take has the candidate asked once, in a closed or an open loop.
func (c *Candidate) Take(ask func(*load.Generator) (load.Result, error)) (Turn, error) {
	before, err := measure.CPU(c.PIDs...)
	if err != nil {
		return Turn{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	got, err := ask(c.Load)
	if err != nil {
		return Turn{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	if c.Settle != nil {
		c.Settle(got.Answers)
	}
	after, err := measure.CPU(c.PIDs...)
	if err != nil {
		return Turn{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	return Turn{got, after - before}, nil
}

// Interleave has all candidates asked in turns, A B C A B C …, and returns the turns of each, in the candidates'
// order. The first turn of each warms it up and is left out.
func Interleave(candidates []*Candidate, rounds int, ask func(*Candidate) (Turn, error)) (turns [][]Turn, err error) {
	turns = make([][]Turn, len(candidates))
	for round := range rounds + 1 {
		for i, c := range candidates {
			turn, err := ask(c)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				turns[i] = append(turns[i], turn)
			}
		}
	}
	return turns, nil
}

// Each is a number of every turn.
func Each(turns []Turn, number func(Turn) float64) []float64 {
	all := make([]float64, len(turns))
	for i, t := range turns {
		all[i] = number(t)
	}
	return all
}

// Ratios are those of a number in turns that followed each other.
func Ratios(of, to []Turn, number func(Turn) float64) []float64 {
	all := make([]float64, len(of))
	for i := range of {
		all[i] = number(of[i]) / number(to[i])
	}
	return all
}

// Answers are those of all turns.
func Answers(turns []Turn) (n int) {
	for _, t := range turns {
		n += t.Answers
	}
	return n
}
