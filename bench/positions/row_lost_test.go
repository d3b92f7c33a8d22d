package positions

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"waypost/bench/measure"
	"waypost/shared/feed"
)

// lostEvery is the time from one lost change to the next. It is no part of the 200 ms between probes, so that changes
// are lost at any time between two of them.
const lostEvery = 97 * time.Millisecond

func (s *stage) lostMessages(t *testing.T) {
	defer s.distance(t, 0)
	for _, d := range []time.Duration{0, 25 * time.Millisecond} {
		s.distance(t, d)
		links := s.bulk(t, "lost", 500)
		s.Settle(t)
		watch, err := NewWatch(s.NATS.URL(), originPrefix)
		if err != nil {
			t.Fatal(err)
		}
		from := s.heads(t)
		s.write(t, lostEvery, s.Times(10, 300), links, "commit")
		to := s.heads(t)
		s.Settle(t)
		watch.Close()
		found, repaired, unseen := s.repairs(watch, from, to, d)
		s.Found(t, measure.Figure{
			Name: fmt.Sprintf("lost message, origin %s away", d), Unit: "messages", N: found.N(),
			Values: []measure.Value{
				measure.Number("found p50", found.Millis(0.5), "ms"),
				measure.Most("found max", found.Millis(1), 250, "ms"),
				measure.Number("repaired p50", repaired.Millis(0.5), "ms"),
				measure.Most("repaired p99", repaired.Millis(0.99), measure.Millis(2*d)+10, "ms"),
				measure.Number("repaired max", repaired.Millis(1), "ms"),
				measure.Number("not measured", float64(unseen), ""),
			},
			Method: "An edge whose probes pass by NATS and to which no change does: a relay between the subjects of edges and origins " +
				"drops them all. Each of some 10 changes a second, mostly alone in its shard, can be found by a probe's heads only. " +
				"Found is from the change's own time stamp, before its commit, to the edge's request for what it lacks, as a tap before " +
				"the origin sees it, less the line's delay. Repaired is from that request to the edge's acknowledgement, both at the tap: " +
				"one round trip, of twice the line's delay, and what origin and edge do meanwhile. Every change was applied in the end; those whose " +
				"acknowledgement was lost are not measured.",
		})
	}
}

// repairs says of each change between two positions how long it took until the edge asked for it, and from then until
// it was known to have it. Of those that are unseen the tap was not told.
func (s *stage) repairs(watch *Watch, from, to *feed.Heads, d time.Duration) (found, repaired measure.Sample, unseen int) {
	fetches, acks := s.tap.heard()
	var asked, had []time.Duration
	for shard := range feed.Shards {
		for seq := from.Seq[shard] + 1; seq <= to.Seq[shard]; seq++ {
			p := feed.Position{Shard: shard, Seq: seq}
			lost := watch.written(p)
			at, ok := asksFor(fetches, p, lost)
			ack := slices.IndexFunc(acks, func(a ack) bool { return a.Shard == shard && a.Seq >= seq && a.heard.After(at) })
			if lost.IsZero() || !ok || ack < 0 {
				unseen++
				continue
			}
			asked = append(asked, max(at.Add(-d).Sub(lost), 0))
			had = append(had, acks[ack].heard.Sub(at))
		}
	}
	return measure.NewSample(asked), measure.NewSample(had), unseen
}

// asksFor is when an edge first asked for a change after it was lost, or last before, if the answer to that had it.
func asksFor(fetches []fetch, p feed.Position, lost time.Time) (at time.Time, ok bool) {
	for _, f := range fetches {
		if f.after.Shard != p.Shard || f.after.Seq >= p.Seq {
			continue
		}
		at, ok = f.heard, true
		if at.After(lost) {
			break
		}
	}
	return at, ok
}
