package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"waypost/bench/fleet"
)

// Load is what visitors and writers do while a fleet is hurt. Every field is required.
type Load struct {
	History *History
	Edges   []*fleet.Edge
	Origins []*fleet.API
	Boots   []atomic.Int64 // of each edge; raised by who starts it again, between two runs
	Seed    uint64
	Name    string // begins every link's code

	Links   int // every third one is strict
	Readers int // connections to each edge
	Reads   int // a second and connection
	Writers int
	Writes  int // a second, over all writers, if answers are quick enough

	links []*written // as the last run left them; nil before the first one
}

// Key is the i-th link's code.
func (l *Load) Key(i int) string { return fmt.Sprintf("%s-%d", l.Name, i) }

// Run reads and writes until ctx ends, and returns what the origins did wrong. A further run goes on with the links as
// the last one left them.
func (l *Load) Run(ctx context.Context) (failed []error) {
	keys := make([]string, l.Links)
	for i := range keys {
		keys[i] = l.Key(i)
	}
	if l.links == nil {
		l.links = unmade(keys)
	}
	var all sync.WaitGroup
	for e, edge := range l.Edges {
		for c := range l.Readers {
			r := &reader{
				history: l.History, edge: edge, index: e, boot: &l.Boots[e], keys: keys,
				every: time.Second / time.Duration(l.Reads), pick: zipf(l.random(1, e*l.Readers+c), len(keys)),
			}
			all.Go(func() { r.run(ctx) })
		}
	}
	errs := make([]error, l.Writers)
	for n := range l.Writers {
		w := &writer{history: l.History, origins: l.Origins, random: l.random(2, n), at: n % len(l.Origins)}
		for i := n; i < l.Links; i += l.Writers {
			w.links = append(w.links, l.links[i])
		}
		all.Go(func() { errs[n] = w.run(ctx, time.Second*time.Duration(l.Writers)/time.Duration(l.Writes)) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}

// unmade are links that their writers have to make.
func unmade(keys []string) (links []*written) {
	for i, key := range keys {
		links = append(links, &written{key: key, class: []string{"available", "available", "strict"}[i%3]})
	}
	return links
}

// random is a source of its own for each part of the load, so that a seed gives every one the same draws again.
func (l *Load) random(part uint64, n int) *rand.Rand {
	return rand.New(rand.NewPCG(l.Seed, part<<32|uint64(n))) //nolint:gosec // draws of a test, and an index
}

// skew is the exponent of how much more the first links are read and changed than the last.
const skew = 1.1

// zipf draws indices below n, at least 1, the first ones most often.
func zipf(random *rand.Rand, n int) func() uint64 {
	return rand.NewZipf(random, skew, 1, uint64(n-1)).Uint64 //nolint:gosec // not negative
}

// run makes or changes each link once, then changes one after the other, until ctx ends. It stops at what an origin did
// wrong.
func (w *writer) run(ctx context.Context, every time.Duration) error {
	pick := zipf(w.random, len(w.links))
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for seen := 0; ; {
		l := w.links[pick()]
		if seen < len(w.links) {
			l = w.links[seen]
			seen++
		}
		// A call that the end of the load would cut off is a write that nobody knows of: it is let finish.
		if err := w.write(context.WithoutCancel(ctx), l); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
