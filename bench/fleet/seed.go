package fleet

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// Seeded are links that were copied into the database, all made at one time.
type Seeded struct {
	Links []Link

	epoch uint64
	heads [feed.Shards]uint64 // after all of them
	first int64               // id of the first one; the others follow
	at    time.Time           // of their creation, by PostgreSQL's clock
}

// Seed copies new links of the default domain into PostgreSQL, which takes a hundredth of what their creation at the
// API does, and gives each its Version. Their rows, positions and histories are as if they had been created by nobody in
// particular, with all else at its default. There are no changes of them to be had, and none are published: an edge must
// not run, so that what it knows begins with the heads behind them. The origins must run, as the schema is theirs, and
// nothing may be written meanwhile.
func (f *Fleet) Seed(tb testing.TB, links []Link) *Seeded {
	tb.Helper()
	for _, e := range f.Edges {
		if e.current() != nil {
			tb.Fatalf("seed: %s runs", e.Name)
		}
	}
	s := &Seeded{Links: links}
	conn, err := pgx.Connect(tb.Context(), f.DatabaseURL())
	if err != nil {
		tb.Fatalf("seed: %v", err)
	}
	defer conn.Close(context.WithoutCancel(tb.Context())) //nolint:errcheck // all is committed
	err = pgx.BeginFunc(tb.Context(), conn, func(tx pgx.Tx) error { return s.write(tb.Context(), tx) })
	if err == nil {
		_, err = conn.Exec(tb.Context(), "VACUUM (ANALYZE) links, click_link, link_history")
	}
	if err != nil {
		tb.Fatalf("seed of %d links: %v", len(links), err)
	}
	return s
}

// DatabaseURL is where the fleet's database is, as its owner.
func (f *Fleet) DatabaseURL() string { return f.databaseURL }

// Entry is what an origin answers when it is asked for the i-th link, unless something was written since.
func (s *Seeded) Entry(i int) *feed.Entry {
	l := s.Links[i]
	key := link.Key{Code: l.Code}
	return &feed.Entry{
		Epoch: s.epoch, AsOf: s.heads[feed.Shard(key.Hash())], Version: l.Version, Key: key,
		Body: feed.Body{
			State: feed.Enabled, LinkID: uint64(s.first) + uint64(i), Status: 302, Clicks: true, //nolint:gosec // ids are positive
			CreatedAt: feed.Micros(s.at), Target: l.Target,
		},
	}
}

// manySeeded is from how many links on indexes are made anew behind them: a row more in each costs more than that.
const manySeeded = 20_000

// write writes all rows, with the heads locked as every writer has them.
func (s *Seeded) write(ctx context.Context, tx pgx.Tx) error {
	if err := s.begin(ctx, tx); err != nil {
		return err
	}
	restore := func() error { return nil }
	if len(s.Links) >= manySeeded {
		var err error
		if restore, err = dropIndexes(ctx, tx, "links"); err != nil {
			return fmt.Errorf("indexes: %w", err)
		}
	}
	columns := []string{
		"link_id", "domain", "code", "shard", "version", "generated", "target", "target_hash", "status", "enabled", "owner", "title", "tags",
		"query", "suffix", "class", "clicks", "expired_url", "max_clicks", "created_at", "updated_at",
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"links"}, columns, pgx.CopyFromSlice(len(s.Links), s.row)); err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO link_history (history_id, version, previous, number, at, by_key, owner, action, changes)
		SELECT link_id, version, 0, 1, created_at, '', owner, 'create', json_build_object('target', json_build_object('to', target))
		FROM links WHERE link_id >= $1`, s.first)
	if err != nil {
		return fmt.Errorf("histories: %w", err)
	}
	_, err = tx.Exec(ctx, `UPDATE shard_head h SET seq = m.seq FROM unnest($1::bigint[]) WITH ORDINALITY m(seq, n) WHERE h.shard = m.n - 1`, s.heads[:])
	return errors.Join(err, restore())
}

// begin reads under the heads' locks where the links begin, and takes their ids.
func (s *Seeded) begin(ctx context.Context, tx pgx.Tx) error {
	var shard int
	var seq uint64
	rows, err := tx.Query(ctx, `SELECT shard, seq FROM shard_head WHERE shard < $1 ORDER BY shard FOR UPDATE`, feed.Shards)
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&shard, &seq}, func() error {
			s.heads[shard] = seq
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("heads: %w", err)
	}
	err = tx.QueryRow(ctx, `SELECT n, clock_timestamp(), nextval('link_id_seq') FROM epoch`).Scan(&s.epoch, &s.at, &s.first)
	if err != nil {
		return fmt.Errorf("epoch: %w", err)
	}
	_, err = tx.Exec(ctx, `SELECT setval('link_id_seq', $1)`, s.first+int64(len(s.Links))-1)
	return err
}

// row is the i-th link's, which by it takes its position.
func (s *Seeded) row(i int) ([]any, error) {
	l := &s.Links[i]
	shard := feed.Shard(link.Key{Code: l.Code}.Hash())
	s.heads[shard]++
	l.Version = s.heads[shard]
	return []any{
		s.first + int64(i), "", l.Code, shard, l.Version, false, l.Target, int64(link.HashBytes([]byte(l.Target))), 302, true, "", "", []string{}, //nolint:gosec // a hash, as its bits
		"off", "off", "available", true, "", 0, s.at, s.at,
	}, nil
}

// dropIndexes drops those of a table that no constraint rests on; restore makes them again.
func dropIndexes(ctx context.Context, tx pgx.Tx, table string) (restore func() error, err error) {
	var drops, makes []string
	var name, definition string
	rows, err := tx.Query(ctx, `
		SELECT c.relname, pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE i.indrelid = $1::text::regclass AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid)`, table)
	if err != nil {
		return nil, err
	}
	_, err = pgx.ForEachRow(rows, []any{&name, &definition}, func() error {
		drops, makes = append(drops, "DROP INDEX "+pgx.Identifier{name}.Sanitize()), append(makes, definition)
		return nil
	})
	run := func(statements []string) error {
		for _, statement := range statements {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	}
	if err != nil {
		return nil, err
	}
	return func() error { return run(append([]string{"SET LOCAL maintenance_work_mem = '512MB'"}, makes...)) }, run(drops)
}
