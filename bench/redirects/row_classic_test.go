package redirects

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"waypost/bench/fleet"
	"waypost/bench/load"
	"waypost/bench/measure"
	"waypost/bench/peers"
)

const classicMethod = "%d links; %d resolves by 8 clients, each the next one when the last is answered, every link as likely as the others; %d turns after one that is left out, Waypost and the design whose only storage is Redis in turns, with the same requests. " +
	"Waypost has all links in PostgreSQL and in L2, and in L1 what turns before left there; it counts every click in its spool on the disk and later in PostgreSQL, the other one in Redis before it answers. " +
	"CPU is that of the edge, and for the other one that of its process and its Redis. Memory of a link is used_memory of Redis for all links, before any was clicked."

// classic measures what shorteners are commonly asked: many links, and many resolves from a few threads.
func (c *cold) classic(t *testing.T) {
	core := peers.Anywhere
	if c.Full() {
		core = serversCore
	}
	peer := peers.Start(t, peers.RedisOnly, c.links, core)
	redisOnly := usedBy(t, peer.Store)
	ours := &Candidate{Name: edge, PIDs: []int{c.Edges[0].PID(t)}, Settle: c.clicksApplied(t)}
	theirs := &Candidate{Name: string(peer.Name), PIDs: peer.PIDs}
	rounds, resolves := c.Times(1, 5), c.Times(500, 100_000)
	const (
		clients = 8
		atOnce  = 1_000_000 // requests a second that all are due at: nobody answers as many
	)
	var asks []load.Ask
	turns, err := Interleave([]*Candidate{ours, theirs}, rounds, func(cand *Candidate) (Turn, error) {
		addr := peer.Addr
		if cand == ours {
			addr, asks = c.Edges[0].Addr, c.visits(resolves, c.any)
		}
		return c.take(t, cand, addr, clients, asks, func(g *load.Generator) (load.Result, error) {
			return g.Open(t.Context(), atOnce, time.Duration(resolves)*time.Second/atOnce)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	method := fmt.Sprintf(classicMethod, len(c.links), resolves, rounds)
	perSecond := func(t Turn) float64 { return t.PerSecond() }
	for i, cand := range []*Candidate{ours, theirs} {
		memory := c.held
		if cand == theirs {
			memory = redisOnly
		}
		values := []measure.Value{
			measure.Number("resolves", 0, "/s").Of(Each(turns[i], perSecond)), measure.Number("CPU", 0, "µs").Of(Each(turns[i], Turn.PerAnswer)),
			measure.Number("Redis a link", memory/float64(len(c.links)), "B"),
		}
		if cand == ours {
			values = append(values, measure.Number("from L1", 0, "%").Of(Each(turns[i], func(t Turn) float64 {
				return 100 * float64(t.Classes[FromL1].Times.N()) / float64(t.Answers)
			})))
		}
		c.Found(t, measure.Figure{Name: cand.Name + ": the classic exercise", Unit: "resolves", N: Answers(turns[i]), Method: method, Values: values})
	}
	c.Found(t, measure.Figure{
		Name: "the classic exercise against Redis-only", Unit: "resolves", N: Answers(turns[0]), Method: method,
		Values: []measure.Value{
			measure.Number("resolves", 0, "×").Of(Ratios(turns[0], turns[1], perSecond)),
			measure.Number("CPU", 0, "×").Of(Ratios(turns[0], turns[1], Turn.PerAnswer)),
		},
	})
}

// usedBy is the memory of a Redis, in bytes.
func usedBy(t *testing.T, url string) float64 {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close() //nolint:errcheck // it only looked
	bytes, err := fleet.L2{Client: client}.Used(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}
