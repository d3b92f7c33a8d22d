package edges

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bound is the stale bound in every test.
const bound = time.Second

var (
	eu  = feed.Member{ID: "eu", Boot: "1"}
	us  = feed.Member{ID: "us", Boot: "1"}
	eu2 = feed.Member{ID: "eu", Boot: "2"}
)

// database is PostgreSQL to several origins: heads, members, epoch and a clock.
type database struct {
	mu     sync.Mutex
	down   bool
	bound  time.Duration
	heads  feed.Heads
	rows   []feed.Membership
	joins  int
	onJoin func() // after a join was committed
	onBump func() // instead of a bump
}

func newDatabase(members ...feed.Member) *database {
	db := &database{bound: bound, heads: feed.Heads{Epoch: 1, Bound: bound.Microseconds()}}
	for _, m := range members {
		db.rows = append(db.rows, feed.Membership{Member: m})
	}
	return db
}

func (db *database) Roster(context.Context) (*links.Roster, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.down {
		return nil, link.ErrUnavailable
	}
	now := time.Now()
	r := &links.Roster{Heads: db.heads, BarrierBound: db.bound}
	r.Heads.Now = now.UnixMicro()
	for _, row := range db.rows {
		if row.Counts(now, db.bound) {
			r.Edges = append(r.Edges, row)
		}
	}
	return r, nil
}

func (db *database) Join(_ context.Context, m feed.Member) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.down {
		return link.ErrUnavailable
	}
	db.joins++
	if db.onJoin != nil {
		defer db.onJoin()
	}
	for i := range db.rows {
		if db.rows[i].Member == m {
			db.rows[i].LeftAt = time.Time{}
			return nil
		}
	}
	db.rows = append(db.rows, feed.Membership{Member: m})
	return nil
}

func (db *database) Leave(ctx context.Context, ms []feed.Member) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.down || ctx.Err() != nil {
		return link.ErrUnavailable
	}
	for i := range db.rows {
		for _, m := range ms {
			if db.rows[i].Member == m && db.rows[i].LeftAt.IsZero() {
				db.rows[i].LeftAt = time.Now()
			}
		}
	}
	return nil
}

func (db *database) BumpEpochFrom(_ context.Context, seen uint64) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.onBump != nil {
		db.onBump()
		return nil
	}
	if db.heads.Epoch == seen {
		db.heads.Epoch++
	}
	return nil
}

// commit is a write: the shard's next position.
func (db *database) commit(shard int) links.Position {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.heads.Seq[shard]++
	return links.Position{Epoch: db.heads.Epoch, Shard: shard, Seq: db.heads.Seq[shard]}
}

func (db *database) set(change func(*database)) {
	db.mu.Lock()
	defer db.mu.Unlock()
	change(db)
}

// left reports whether the member has left.
func (db *database) left(m feed.Member) bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, row := range db.rows {
		if row.Member == m {
			return !row.LeftAt.IsZero()
		}
	}
	return false
}

// origin is one of several origins on a database.
type origin struct {
	*Tracker
	*Probes
	*Barrier
}

// network is what origins hear each other by.
type network struct {
	origins []*origin

	mu     sync.Mutex
	shared int // acknowledgements
}

func (n *network) Share(a *feed.Ack) {
	n.mu.Lock()
	n.shared++
	n.mu.Unlock()
	for _, o := range n.origins { // the one that shares hears itself
		o.Acks(ByShare).Ack(a)
	}
}

func newOrigin(db *database) *origin { return newOrigins(db, 1).origins[0] }

func newOrigins(db *database, n int) *network {
	net := &network{}
	for range n {
		rosters, tracker := NewRosters(db.Roster), NewTracker(net)
		net.origins = append(net.origins, &origin{
			Tracker: tracker, Probes: NewProbes(db, rosters, tracker),
			Barrier: NewBarrier(db, rosters, tracker, bound),
		})
	}
	return net
}

// ack is an acknowledgement by NATS.
func (o *origin) ack(m feed.Member, positions ...links.Position) {
	a := &feed.Ack{Member: m}
	for _, p := range positions {
		a.Epoch = p.Epoch
		a.Positions = append(a.Positions, feed.Position{Shard: p.Shard, Seq: p.Seq})
	}
	o.Acks(ByNATS).Ack(a)
}

// probe is a probe of an edge that has applied these positions and none before
// or in other shards.
func probe(m feed.Member, epoch uint64, positions ...links.Position) *feed.Probe {
	p := &feed.Probe{Member: m, Epoch: epoch}
	for _, at := range positions {
		p.Applied[at.Shard] = at.Seq
	}
	return p
}
