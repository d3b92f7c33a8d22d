package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"waypost/origin/internal/links"
	"waypost/shared/failpoint"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// errRaced reports a row that is not as it was read under the locks.
var errRaced = errors.New("a link was written past the locks")

// transaction is one attempt at a group of jobs: what it read under its locks,
// and what it is going to write.
type transaction struct {
	jobs  []*job
	locks time.Duration // longest wait for one; 0: as long as a write may wait

	epoch    uint64
	config   uint64         // last position of the config shard
	now      time.Time      // PostgreSQL's clock, read under the locks
	heads    map[int]uint64 // last positions, moved on as jobs take theirs
	held     map[link.Key]*held
	reusable map[*job]*linkRow
	answered map[*job]links.Result // of those that were carried out once

	registered map[string]bool // rows of domains, held

	outcome  map[*job]links.Result
	collided []*job
	changes  []*feed.Change
	counted  bool // rows that are written must be counted before the commit
	inserts  inserts
	history  histories
}

// held is what there is of a key under its shard's lock.
type held struct {
	row     linkRow
	newID   pgtype.Int8 // for a new link; null where a live one has the key
	history pgtype.Int8 // of the key; null where there is no row
}

// run does the transaction in the order that the protocol rests on: locks, then
// heads, then reading, then writing. That is two round trips, with one more where
// the rows of a write must be counted before it is committed. While they last,
// others wait for the heads.
func (s *Store) run(ctx context.Context, t *transaction) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return translate("write", err)
	}
	defer conn.Release() // drops a connection on which something is open
	err = t.carryOut(ctx, conn)
	if c := conn.Conn(); !c.IsClosed() && c.PgConn().TxStatus() != idle {
		_, _ = conn.Exec(ctx, `ROLLBACK`) // where that fails, the connection is dropped
	}
	return err
}

// keepPlans has statements planned once a connection. Each finds its rows by an
// index, however many; the planner would look at the values anew in every
// transaction, which takes it longer than to find the rows of a few links.
const keepPlans = `SET LOCAL plan_cache_mode = force_generic_plan`

// readMoment is readEpoch with the position of the config shard, of which only
// its writers wait for the lock.
const readMoment = `SELECT n, clock_timestamp(), (SELECT seq FROM shard_head WHERE shard = $1) FROM epoch`

// idle is the state of a connection on which no transaction is open.
const idle = 'I'

func (t *transaction) carryOut(ctx context.Context, conn *pgxpool.Conn) error {
	b := &pgx.Batch{}
	b.Queue(`BEGIN`)
	b.Queue(keepPlans)
	if t.locks > 0 {
		b.Queue(`SET LOCAL lock_timeout = ` + millis(t.locks))
	}
	t.queueReads(b)
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		return translate("write", err)
	}
	writes, err := t.decide()
	if err != nil || writes.Len() == 0 {
		return err
	}
	if !t.counted {
		writes.Queue(`COMMIT`)
		failpoint.Hit(failpoint.BeforeCommit)
		return translate("write", raced(conn.SendBatch(ctx, writes).Close()))
	}
	if err := conn.SendBatch(ctx, writes).Close(); err != nil {
		return translate("write", raced(err))
	}
	failpoint.Hit(failpoint.BeforeCommit)
	_, err = conn.Exec(ctx, `COMMIT`)
	return translate("write", err)
}

// queueReads queues what takes the locks and reads all that the jobs' rules need.
// It is one round trip, but each statement has its own snapshot, taken when those
// before it are done: the rows are read as they are once the heads are held.
func (t *transaction) queueReads(b *pgx.Batch) {
	t.heads = make(map[int]uint64)
	t.held = make(map[link.Key]*held, len(t.jobs))
	t.reusable = make(map[*job]*linkRow)
	t.answered = make(map[*job]links.Result)
	var shards []int16
	domains, codes := make([]string, len(t.jobs)), make([]string, len(t.jobs))
	for i, j := range t.jobs {
		domains[i], codes[i] = j.key.Domain, j.key.Code
		shards = append(shards, int16(j.shard)) //nolint:gosec // at most 63
	}
	queueLocks(b, t.jobs)
	b.Queue(lockHeads, shards).Query(func(rows pgx.Rows) error {
		var shard int
		var seq int64
		_, err := pgx.ForEachRow(rows, []any{&shard, &seq}, func() error {
			t.heads[shard] = unsigned(seq)
			return nil
		})
		return err
	})
	t.queueDomains(b)
	b.Queue(readMoment, feed.ConfigShard).QueryRow(func(row pgx.Row) error {
		var epoch, config int64
		err := row.Scan(&epoch, &t.now, &config)
		t.epoch, t.config, t.now = unsigned(epoch), unsigned(config), t.now.UTC()
		return err
	})
	// Whatever the planner knows of the table, which may have been empty when it
	// looked: both indexes that begin with what is compared find one row at once.
	b.Queue(`
		SELECT k.domain, k.code,
			CASE WHEN l.link_id IS NULL OR l.deleted_at IS NOT NULL THEN nextval('link_id_seq') END,
			coalesce(l.history_id, l.link_id), `+linkColumns+`
		FROM unnest($1::smallint[], $2::text[], $3::text[]) k(shard, domain, code) LEFT JOIN LATERAL (
			SELECT * FROM links WHERE links.shard = k.shard AND links.domain = k.domain AND links.code = k.code LIMIT 1
		) l ON true`, shards, domains, codes).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var key link.Key
			h := &held{}
			if err := rows.Scan(append([]any{&key.Domain, &key.Code, &h.newID, &h.history}, h.row.dest()...)...); err != nil {
				return err
			}
			t.held[key] = h
		}
		return rows.Err()
	})
	t.queueOnce(b)
	for _, j := range t.jobs {
		if j.reuse != nil {
			r := &linkRow{}
			t.reusable[j] = r
			j.reuse.queueLookup(b, r)
		}
	}
}

// decide applies the jobs' rules to what was read, gives positions to those that
// succeed, and returns all that is to be written.
func (t *transaction) decide() (*pgx.Batch, error) {
	b := &pgx.Batch{}
	t.outcome = make(map[*job]links.Result, len(t.jobs))
	for _, j := range t.jobs {
		if r, done := t.answered[j]; done {
			t.outcome[j] = r
			continue
		}
		if u := j.m.Under; u != (links.Position{}) && (u.Epoch != t.epoch || u.Seq != t.config) {
			t.outcome[j] = links.Result{Err: links.ErrConfigMoved}
			continue
		}
		if r := t.reusable[j]; r != nil && r.found() {
			t.outcome[j] = links.Result{Link: r.link(t.epoch), Reused: true}
			continue
		}
		h := t.held[j.key]
		if j.purge {
			t.purge(j, h)
			continue
		}
		if h.row.found() && j.m.Generate != nil {
			t.collided = append(t.collided, j) // a tombstone too: generated codes never come back
			continue
		}
		var old *link.Link
		if h.row.found() {
			l := h.row.link(t.epoch)
			old = &l
		}
		merged, err := j.m.Merge(old, t.now)
		if err == nil {
			err = t.homeless(j.key.Domain, old, merged)
		}
		if err != nil {
			t.outcome[j] = links.Result{Err: err}
			continue
		}
		l := t.place(j, h, old, *merged)
		c := t.change(j, old, &l)
		t.changes = append(t.changes, c)
		t.outcome[j] = links.Result{Link: l, Change: c}
		if old == nil {
			t.inserts.add(j.shard, j.m.Generate != nil, &l)
		} else {
			queueUpdate(b, j, &l)
			t.counted = true
		}
		if err := t.remember(j, h, old, &l); err != nil {
			return nil, err
		}
	}
	t.inserts.queue(b)
	if len(t.changes) > 0 {
		queueChanges(b, t.changes)
	}
	t.history.queue(b, t.now)
	return b, t.queueAnswers(b)
}

// place completes the content that a job's rules made: identity, times and
// position.
func (t *transaction) place(j *job, h *held, old *link.Link, l link.Link) link.Link {
	l.Key = j.key
	l.StartsAt, l.ExpiresAt, l.DeletedAt = micros(l.StartsAt), micros(l.ExpiresAt), micros(l.DeletedAt)
	if old == nil || !old.DeletedAt.IsZero() && l.DeletedAt.IsZero() {
		l.ID, l.CreatedAt = h.newID.Int64, t.now
	} else {
		l.ID, l.CreatedAt = old.ID, old.CreatedAt
	}
	l.UpdatedAt = t.now
	t.heads[j.shard]++
	l.Epoch, l.Version = t.epoch, t.heads[j.shard]
	return l
}

func (t *transaction) change(j *job, old, l *link.Link) *feed.Change {
	kind := feed.Changed
	if old == nil {
		kind = feed.Create
	}
	content := body(l)
	return &feed.Change{
		Epoch: t.epoch, Shard: j.shard, Seq: l.Version, Kind: kind, At: feed.Micros(t.now),
		Key: l.Key, Value: string(content.Append(nil)),
	}
}

// purge gives a row that exists a position and leaves it as it is.
func (t *transaction) purge(j *job, h *held) {
	if !h.row.found() {
		t.outcome[j] = links.Result{Err: link.ErrNotFound}
		return
	}
	t.heads[j.shard]++
	c := &feed.Change{
		Epoch: t.epoch, Shard: j.shard, Seq: t.heads[j.shard], Kind: feed.Purge, At: feed.Micros(t.now), Key: j.key,
	}
	t.changes = append(t.changes, c)
	t.outcome[j] = links.Result{Link: h.row.link(t.epoch), Change: c}
}

// settle hands the outcomes out, after the commit, and returns the jobs that
// need another code.
func (t *transaction) settle() (collided []*job) {
	for j, res := range t.outcome {
		j.settle(res)
	}
	for _, j := range t.collided {
		j.key.Code = ""
	}
	return t.collided
}

// queueUpdate queues the write of the row of a link of which there was one.
func queueUpdate(b *pgx.Batch, j *job, l *link.Link) {
	tags := l.Tags
	if tags == nil {
		tags = []string{}
	}
	b.Queue(updateLink,
		l.Key.Domain, l.Key.Code, l.ID, signed(l.Version), j.m.Generate != nil, l.Target, targetHash(l.Target),
		l.Status, l.Enabled, l.Owner, l.Title, tags, l.Query.String(), l.Suffix.String(), l.Class.String(), l.Clicks,
		nullTime(l.StartsAt), nullTime(l.ExpiresAt), l.ExpiredURL, l.MaxClicks,
		l.CreatedAt, l.UpdatedAt, nullTime(l.DeletedAt), j.shard,
	).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() != 1 {
			return fmt.Errorf("link %s: %w", l.Key, errRaced)
		}
		return nil
	})
}

// updateLink keeps shard, and whether the code was generated, unless an alias
// takes the place of a tombstone, whose history it goes on with.
const updateLink = `
	UPDATE links SET link_id = $3, version = $4, generated = generated AND link_id = $3 OR $5,
		target = $6, target_hash = $7, status = $8, enabled = $9, owner = $10, title = $11, tags = $12,
		query = $13, suffix = $14, class = $15, clicks = $16, starts_at = $17, expires_at = $18, expired_url = $19,
		max_clicks = $20, created_at = $21, updated_at = $22, deleted_at = $23,
		history_id = CASE WHEN link_id = $3 THEN history_id ELSE coalesce(history_id, link_id) END
	WHERE domain = $1 AND code = $2 AND shard = $24`
