package positions

import (
	"context"
	"math"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/measure"
)

// readEvery is the time from one read of the hot links to the next, over all edges: 400 a second.
const readEvery = 2500 * time.Microsecond

// forever is more reads than any row makes.
const forever = 1 << 18

func (s *stage) hotReadsBesideAnImport(t *testing.T) {
	hot := s.bulk(t, "hot", s.Times(100, 2000))
	v := s.visit(t, hot, 4, s.everywhere()...)
	v.warm(t)
	v.told()
	read := func(ctx context.Context, n int) Tiers {
		_, err := measure.Pace{Every: readEvery, Jobs: n, Workers: len(v.conns)}.Run(ctx, func(worker, _ int) error { return v.any(worker) })
		if err != nil {
			t.Error(err)
		}
		return v.told()
	}
	before := read(t.Context(), s.Times(200, 6000))

	ctx, cancel := context.WithCancel(t.Context())
	imported := s.Times(2000, 100_000)
	var took time.Duration
	go func() {
		defer cancel()
		began := time.Now()
		for done := 0; done < imported; {
			items := make([]fleet.Fields, min(1000, imported-done))
			for i := range items {
				items[i] = fleet.Fields{"target": target("import", done+i)}
			}
			if _, err := s.api.Bulk(ctx, items); err != nil {
				t.Error(err)
				return
			}
			done += len(items)
		}
		took = time.Since(began)
	}()
	during := read(ctx, forever)
	<-ctx.Done()
	fell := before.Share("l1") - during.Share("l1")
	s.Found(t, measure.Figure{
		Name: "L1 hits among reads of 2,000 hot links while 100,000 links are imported", Unit: "reads during the import", N: during.Answers(),
		Values: []measure.Value{
			measure.Number("before", before.Share("l1"), "%"), measure.Number("during", during.Share("l1"), "%"),
			measure.Most("fell by", math.Max(fell, 0), 1, "points"),
			measure.Number("links imported", float64(imported), ""), measure.Number("import took", took.Seconds(), "s"),
		},
		Method: "400 reads a second of links in L1, over four edges, all links as likely, by an open loop; at first for 15 s alone, then " +
			"beside 100 calls of `POST /links/bulk` of 1,000 links each, one after the other, until the last one is answered. The tier is that " +
			"of each answer's Cache-Status.",
	})
}
