package redirects

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/bench/fleet"
	"waypost/bench/load"
	"waypost/bench/measure"
	"waypost/shared/feed"
)

// l1PerLink is for how many bytes a link L1 is laid out where it is to hold all, in bytes: more than it counts for one.
const l1PerLink = 500

// roomFor is the size of an L1 that holds so many links.
func roomFor(links int) string { return strconv.Itoa(max(links*l1PerLink, 1<<20)) }

const memoryMethod = "%d links with codes of 9 characters and targets of %d, copied into PostgreSQL. " +
	"L1: live bytes of the edge's heap, by the runtime after a collection, before and after it was asked for every link by HEAD until it answered 99.9 %% of them from L1, by the links that it held then, less code and target; " +
	"and what it sets aside from the start for as many, against an edge of the same fleet whose L1 has 1 MiB. " +
	"No heads are kept ready: what one would add is measured by %d entries on the heap with the head of such an answer beside each, of %.0f bytes, and as many without. " +
	"L2: used_memory of Redis before and after the values of all links were stored. Filter: the strings of all shards, laid out for as many links at a rate of 1 %%. " +
	"PostgreSQL: pg_total_relation_size after VACUUM, of the tables and indexes that a link has a row in from its creation on; its place in the outbox goes after a day."

// memory measures what a link takes where it is kept.
func (c *cold) memory(t *testing.T) {
	target := len(c.links[0].Target)
	large, small := c.anew(t, 0), c.anew(t, 1)
	c.AwaitShipped(t) // what they still have of clicks is no link's
	aside := (large.LiveHeap(t) - small.LiveHeap(t)) / float64(len(c.links))
	before := large.LiveHeap(t)
	held := c.fillL1(t)
	own := (large.LiveHeap(t)-before)/float64(held) - float64(len(c.links[0].Code)+target)
	filter, err := c.l2.FilterBytes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows, indexes, clicks, history := c.tables(t)
	size, heads := c.headSize(t), c.Times(1000, 100_000)
	per := func(name string, bytes float64) measure.Value {
		return measure.Number(name, bytes/float64(len(c.links)), "B")
	}
	c.Found(t, measure.Figure{
		Name: "memory of a link", Unit: "links", N: len(c.links), Method: fmt.Sprintf(memoryMethod, len(c.links), target, heads, size),
		Values: []measure.Value{
			measure.Most("L1 beyond code and target", own+max(aside, 0), 400, "B"), measure.Number("of that set aside from the start", aside, "B"),
			measure.Number("a head kept ready would add", headBeside(heads, int(size)), "B"),
			measure.Number("held in L1", 100*float64(held)/float64(len(c.links)), "%"),
			per("L2", c.held), per("filter", filter),
			per("PostgreSQL", rows+indexes+clicks+history), per("of that rows", rows), per("indexes", indexes), per("counter of clicks", clicks), per("history", history),
		},
	})
}

// headSize is the mean size of the first edge's answers from L1, which are heads alone, in bytes.
func (c *cold) headSize(t *testing.T) float64 {
	t.Helper()
	got := c.open(t, c.Edges[0].Addr, 200*time.Millisecond, c.visits(100, c.any))
	return float64(got.Bytes) / float64(got.Answers)
}

// headBeside is what the heap holds more for an entry if a head of so many bytes is kept beside it, by so many of both.
func headBeside(n, size int) float64 {
	type ready struct {
		feed.Entry
		head []byte
	}
	entries, with := make([]*feed.Entry, n), make([]*ready, n)
	before := heap()
	for i := range entries {
		entries[i] = new(feed.Entry)
	}
	between := heap()
	for i := range with {
		with[i] = &ready{head: make([]byte, size)}
	}
	after := heap()
	runtime.KeepAlive(entries)
	runtime.KeepAlive(with)
	return ((after - between) - (between - before)) / float64(n)
}

// heap is what is live on this process' own, in bytes.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// anew restarts an edge, whose L1 is empty then.
func (c *cold) anew(t *testing.T, i int) *fleet.Edge {
	t.Helper()
	if i == 0 {
		c.inL1 = 0
	}
	e := c.Edges[i]
	e.Restart(t)
	if c.Full() {
		e.Pin(t, serversCore)
	}
	return e
}

// fillL1 asks the first edge for all links until it has nearly all of them in L1, if it has not yet, and returns how many.
func (c *cold) fillL1(t *testing.T) (held int) {
	t.Helper()
	const passes, chunk, rate = 6, 100_000, 50_000 // chunks keep the requests made beforehand small
	enough := len(c.links) * 999 / 1000
	for range passes {
		if c.inL1 >= enough {
			return c.inL1
		}
		c.inL1 = 0
		for from := 0; from < len(c.links); from += chunk {
			some := c.links[from:min(from+chunk, len(c.links))]
			asks := make([]load.Ask, len(some))
			for i, l := range some {
				asks[i] = head(l)
			}
			got, err := c.asked(t, c.Edges[0].Addr, c.Times(4, conns), asks, func(g *load.Generator) (load.Result, error) {
				return g.Open(t.Context(), rate, time.Duration(len(asks))*time.Second/rate)
			})
			if err != nil {
				t.Fatal(err)
			}
			c.inL1 += int(got.Classes[FromL1].Times.N())
		}
	}
	if c.inL1 < enough {
		t.Errorf("L1 holds %d of %d links", c.inL1, len(c.links))
	}
	return c.inL1
}

// tables are the bytes of what is kept of links.
func (c *cold) tables(t *testing.T) (rows, indexes, clicks, history float64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.DatabaseURL())
	if err == nil {
		err = conn.QueryRow(t.Context(), `
			SELECT pg_table_size('links'), pg_indexes_size('links'), pg_total_relation_size('click_link'), pg_total_relation_size('link_history')`).
			Scan(&rows, &indexes, &clicks, &history)
	}
	if err == nil {
		err = conn.Close(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows, indexes, clicks, history
}
