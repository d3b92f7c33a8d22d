package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
)

// slack is what clock rates of different machines may differ by: whatever has
// to outlast a bound measured elsewhere takes that bound times slack.
const slack = `1.01`

// readRoster is one statement, so that heads, members, bounds and epoch are of
// one snapshot: a member that is missing in it gets no heads of it.
//
// A raised bound counts for barriers at once and for leases when every barrier
// that knew only the one before has ended; a lowered one counts for leases at
// once and for barriers when every lease of the one before has ended. Until
// since is known, infinity, neither has.
//
// A left_at of infinity is an edge whose leaving is just being committed: it has
// left, and no lease of it is younger than this read.
//
// Salts come along, of today and tomorrow by the same clock and of no other day,
// deleted or not.
//
// With synchronous standbys the message makes the read a commit that they have
// to confirm: a primary that was replaced without knowing cannot answer it. It
// takes no lock and leaves nothing behind but a line in the WAL.
const readRoster = `
	WITH bound AS MATERIALIZED (
		SELECT t.now,
			CASE WHEN b.value > b.previous AND t.now <= b.since + b.previous * ` + slack + ` THEN b.previous ELSE b.value END AS lease,
			CASE WHEN b.value < b.previous AND t.now <= b.since + b.previous * ` + slack + ` THEN b.previous ELSE b.value END AS barrier
		FROM stale_bound b, (SELECT clock_timestamp() AS now) t
	)
	SELECT e.n, (extract(epoch FROM b.now) * 1000000)::bigint,
		(SELECT array_agg(seq ORDER BY shard) FROM shard_head), b.lease, b.barrier, m.ids, m.boots, m.lefts,
		CASE WHEN current_setting('synchronous_standby_names') <> ''
			THEN pg_logical_emit_message(true, 'waypost', 'roster') END, salt.days, salt.keys
	FROM epoch e CROSS JOIN bound b CROSS JOIN LATERAL (
		SELECT array_agg(day ORDER BY day) AS days, array_agg(key ORDER BY day) AS keys
		FROM click_salt WHERE day - (b.now AT TIME ZONE 'UTC')::date BETWEEN 0 AND 1
	) salt CROSS JOIN LATERAL (
		SELECT array_agg(id ORDER BY id, boot) AS ids, array_agg(boot ORDER BY id, boot) AS boots,
			array_agg(CASE left_at WHEN 'infinity' THEN b.now ELSE left_at END ORDER BY id, boot) AS lefts
		FROM edge_member WHERE left_at IS NULL OR left_at + b.barrier * ` + slack + ` > b.now
	) m`

// Roster reads the last position of every shard, the bounds and the edges that
// a write has to reach, in one snapshot of the primary.
func (s *Store) Roster(ctx context.Context) (*links.Roster, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var (
		epoch, now int64
		seq        []int64
		lease      time.Duration
		ids, boots []string
		lefts      []pgtype.Timestamptz
		saltDays   []time.Time
		saltKeys   [][]byte
	)
	r := &links.Roster{}
	err := s.edges.QueryRow(ctx, readRoster).Scan(&epoch, &now, &seq, &lease, &r.BarrierBound, &ids, &boots, &lefts, nil,
		&saltDays, &saltKeys)
	if err != nil {
		return nil, translate("roster", err)
	}
	if len(seq) != feed.AllShards {
		return nil, fmt.Errorf("postgres roster: %d shards, want %d", len(seq), feed.AllShards)
	}
	r.Heads = feed.Heads{Epoch: unsigned(epoch), Now: now, Bound: lease.Microseconds(), Salts: salts(saltDays, saltKeys)}
	for shard, v := range seq {
		r.Heads.Seq[shard] = unsigned(v)
	}
	for i := range ids {
		r.Edges = append(r.Edges, links.Edge{Member: feed.Member{ID: ids[i], Boot: boots[i]}, LeftAt: utc(lefts[i])})
	}
	return r, nil
}

// Heads reads the last position of every shard: what Roster reads, for those
// who ask for no more.
func (s *Store) Heads(ctx context.Context) (*feed.Heads, error) {
	r, err := s.Roster(ctx)
	if err != nil {
		return nil, err
	}
	return &r.Heads, nil
}
