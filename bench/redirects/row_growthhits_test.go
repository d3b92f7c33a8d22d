package redirects

import (
	"fmt"
	"testing"
	"time"

	"waypost/bench/load"
	"waypost/bench/measure"
)

// leisure is a rate at which every edge has time between two requests, a second.
const leisure = 10_000

// drawn is how many links are asked for in a turn at most: many more than a processor's caches hold, and few enough for
// their clicks to be applied within seconds, a row in PostgreSQL each.
const drawn = 20_000

const growthHitsMethod = "One edge for each number of links, whose L1 has room for all of them and was seen to hold 99.9 %%; every link is as likely as the others to be among the %d that are drawn anew for each turn and asked for over and over, over %d connections; limiter async, clicks on. " +
	"CPU in a closed loop, p50 in an open one at %d requests a second; %d turns of %s of each after one that is left out." + growthMethod

// grownHits are a turn of an edge in both loops.
type grownHits struct{ closed, open Turn }

func (h grownHits) cpu() float64 { return h.closed.PerAnswer() }
func (h grownHits) p50() float64 { return h.open.Quantile(0.5) }

// late is the median of what requests of the open loop went out late by, in microseconds.
func (h grownHits) late() float64 { return p50(h.open.Late) }

// fromL1 is the share of the answers that came from there, in percent.
func (h grownHits) fromL1() float64 {
	return 100 * float64(h.open.Classes[FromL1].Times.N()) / float64(h.open.Answers)
}

// hits measures what redirects from L1 cost and take with more links, against the fewest.
func (g *growing) hits(t *testing.T) {
	rounds, lasting, n := g.Times(1, 5), g.Lasting(50*time.Millisecond, 2*time.Second), g.Times(500, drawn)
	rate, clients := float64(g.Times(500, leisure)), g.Times(4, conns)
	var edges []*Candidate
	for _, c := range g.fleets {
		c.fillL1(t)
		edges = append(edges, &Candidate{Name: edge, PIDs: []int{c.Edges[0].PID(t)}, Settle: c.clicksApplied(t)})
	}
	turns := make([][]grownHits, len(g.fleets))
	for round := range rounds + 1 {
		for i, c := range g.fleets {
			asks := c.visits(n, c.any)
			take := func(loop func(*load.Generator) (load.Result, error)) Turn {
				turn, err := c.take(t, edges[i], c.Edges[0].Addr, clients, asks, loop)
				if err != nil {
					t.Fatal(err)
				}
				return turn
			}
			got := grownHits{
				closed: take(func(g *load.Generator) (load.Result, error) { return g.Closed(t.Context(), lasting) }),
				open:   take(func(g *load.Generator) (load.Result, error) { return g.Open(t.Context(), rate, lasting) }),
			}
			if round > 0 {
				turns[i] = append(turns[i], got)
			}
		}
	}
	for i, c := range g.fleets {
		answers := 0
		for _, h := range turns[i] {
			answers += h.closed.Answers + h.open.Answers
		}
		of := func(name, unit string, number func(grownHits) float64) measure.Value {
			return measure.Number(name, 0, unit).Of(each(turns[i], number))
		}
		against := func(name string, number func(grownHits) float64) measure.Value {
			return measure.Number(name, 0, "×").Of(quotients(each(turns[i], number), each(turns[0], number)))
		}
		fewest := len(g.fleets[0].links)
		g.Found(t, measure.Figure{
			Name: fmt.Sprintf("a redirect from L1 with %d links", len(c.links)), Unit: "redirects", N: answers,
			Method: fmt.Sprintf(growthHitsMethod, n, clients, int(rate), rounds, lasting),
			Values: []measure.Value{
				of("CPU", "µs", grownHits.cpu), against(fmt.Sprintf("CPU against %d links", fewest), grownHits.cpu),
				of("p50", "µs", grownHits.p50), against(fmt.Sprintf("p50 against %d links", fewest), grownHits.p50),
				of("late p50", "µs", grownHits.late), of("from L1", "%", grownHits.fromL1),
			},
		})
	}
}
