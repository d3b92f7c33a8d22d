package edges

import "waypost/shared/feed"

// Way is how an acknowledgement came.
type Way uint8

// The ways. A probe's applied positions acknowledge what is before them.
const (
	ByNATS  Way = iota // to this origin, which published the change
	ByShare            // by NATS to all origins, from the edge or from one of them
	ByHTTP
	ByProbe
	ways
)

// Acks takes the acknowledgements that come by one way.
type Acks struct {
	tracker *Tracker
	by      Way
}

// Acks returns the Tracker's entry for one way.
func (t *Tracker) Acks(by Way) Acks { return Acks{tracker: t, by: by} }

// Ack takes one acknowledgement. It does not wait.
func (a Acks) Ack(ack *feed.Ack) {
	a.tracker.take(a.by, ack.Member, ack.Epoch, func(yield func(int, uint64) bool) {
		for _, p := range ack.Positions {
			if !yield(p.Shard, p.Seq) {
				return
			}
		}
	})
}

// Taken counts the acknowledgements that came by a way.
func (t *Tracker) Taken(by Way) uint64 { return t.taken[by].Load() }

// takeProbe takes what a probe says of where its edge stands.
func (t *Tracker) takeProbe(p *feed.Probe) {
	t.take(ByProbe, p.Member, p.Epoch, func(yield func(int, uint64) bool) {
		for shard, seq := range p.Applied {
			if !yield(shard, seq) {
				return
			}
		}
	})
}
