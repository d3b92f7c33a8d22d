package links

import (
	"context"
	"time"

	"waypost/shared/failpoint"
	"waypost/shared/feed"
)

// Ack is what a write waits for before it is answered.
type Ack string

// The acknowledgements. AckCommit says that PostgreSQL has committed the write,
// and nothing about edges. AckEdges says that moreover no edge goes on answering
// with what was before it, unless marked as stale: each has either confirmed the
// change or lost the lease it had before it.
const (
	AckEdges  Ack = "edges"
	AckCommit Ack = "commit"
)

// Receipt says how far a write got before it was answered.
type Receipt struct {
	Ack   Ack
	Edges int           // edges that were asked to confirm
	Acked int           // edges known to have the change
	Took  time.Duration // from the call to the answer
}

// Position is where a change stands.
type Position struct {
	Epoch uint64
	Shard int
	Seq   uint64
}

// barrier waits for edges. It does not fail: what it could not learn is in the
// receipt, whose Took is the caller's to set. committed is a moment at or after
// the commit; positions are one for each epoch and shard, the highest.
type barrier interface {
	Wait(ctx context.Context, committed time.Time, positions []Position) Receipt
}

// spread collects the changes of one call, which may be several transactions,
// publishes each lot as it is committed, and waits for all of them at once.
type spread struct {
	service   *Service
	ack       Ack
	began     time.Time
	committed time.Time // of the last transaction
	highest   map[place]uint64
}

type place struct {
	epoch uint64
	shard int
}

func (s *Service) spread(ack Ack) *spread {
	return &spread{service: s, ack: ack, began: time.Now(), highest: make(map[place]uint64)}
}

// publish tells edges of what was committed just now; nil changes are skipped.
func (sp *spread) publish(changes []*feed.Change) {
	sp.committed = time.Now()
	var all []*feed.Change
	for _, c := range changes {
		if c == nil {
			continue
		}
		all = append(all, c)
		sp.wait(Position{Epoch: c.Epoch, Shard: c.Shard, Seq: c.Seq})
	}
	if len(all) > 0 {
		failpoint.Hit(failpoint.BeforePublish)
		sp.service.publisher.Publish(all)
	}
}

// publishResults is publish for the results of a write.
func (sp *spread) publishResults(results []Result) {
	changes := make([]*feed.Change, len(results))
	for i := range results {
		changes[i] = results[i].Change
	}
	sp.publish(changes)
	for i := range results {
		sp.cover(&results[i])
	}
}

// cover has the receipt wait for a link that an earlier call has made, and this
// one found. That call may not have heard from edges yet, or have ended before
// they were told. Its position is one of the epoch of now, too: of a link that is
// there, since the store says so; of one that was answered before, since what
// remembers that was committed with it. Nobody acknowledges anything of an older
// epoch any more.
func (sp *spread) cover(r *Result) {
	if r.Err != nil || !r.Replayed && !r.Reused {
		return
	}
	epoch := r.Link.Epoch
	if r.Replayed {
		epoch = r.Epoch
	}
	sp.wait(Position{Epoch: epoch, Shard: feed.Shard(r.Link.Key.Hash()), Seq: r.Link.Version})
}

// coverRow is cover for a row of the config shard that was as it was to be.
func (sp *spread) coverRow(r *ConfigResult) {
	if r.Err == nil && r.Change == nil && r.Row.Value != "" {
		sp.wait(Position{Epoch: r.Row.Epoch, Shard: feed.ConfigShard, Seq: r.Row.Version})
	}
}

// wait has the receipt wait for a position.
func (sp *spread) wait(p Position) {
	at := place{epoch: p.Epoch, shard: p.Shard}
	sp.highest[at] = max(sp.highest[at], p.Seq)
}

// receipt waits for what was asked for. Where nothing was written or found there
// is nothing to confirm, and nothing is claimed.
func (sp *spread) receipt(ctx context.Context) Receipt {
	r := Receipt{Ack: AckCommit}
	if sp.ack == AckEdges && len(sp.highest) > 0 {
		positions := make([]Position, 0, len(sp.highest))
		for at, seq := range sp.highest {
			positions = append(positions, Position{Epoch: at.epoch, Shard: at.shard, Seq: seq})
		}
		r = sp.service.barrier.Wait(ctx, sp.committed, positions)
		failpoint.Hit(failpoint.BeforeAnswer)
	}
	r.Took = time.Since(sp.began)
	return r
}
