package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// maxConfigBytes bounds the names and values of all rows. Edges take no answer
// above 8 MiB, and JSON in JSON is at most twice as long.
const maxConfigBytes = 7 << 19

// configWrite is one transaction that changes rows of the config shard.
type configWrite struct {
	tx    pgx.Tx
	epoch uint64
	head  uint64    // last position, moved on as rows take theirs
	now   time.Time // PostgreSQL's clock, read under the lock
	rows  map[string]links.ConfigRow
	count map[string]int // rows of a kind, of those kinds that are bounded
	bytes int64          // of all names and values; below 0: not known yet

	names, values []string // of the rows that are written …
	versions      []int64
	removed       []string // … and those that are not any more
	changes       []*feed.Change
}

// WriteConfig carries out mutations of different rows in one transaction, each
// for itself: what became of one stands in its result, at the same index. Each
// one that changes its row's value is a position of the config shard. The error
// is that of all, and then nothing is written: link.ErrUnavailable, or for a call
// that is wrong as a whole.
//
// A domain's row is removed only while no live link is on the domain; whoever
// makes a link there holds the row until the commit.
func (s *Store) WriteConfig(ctx context.Context, ms []links.ConfigMutation) ([]links.ConfigResult, error) {
	if len(ms) > links.MaxConfigWrite {
		return nil, fmt.Errorf("postgres write config: %d mutations, at most %d", len(ms), links.MaxConfigWrite)
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	results := make([]links.ConfigResult, len(ms))
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		w := &configWrite{tx: tx, count: make(map[string]int), bytes: -1}
		if err := w.read(ctx, ms); err != nil {
			return err
		}
		for i := range ms {
			var err error
			if results[i], err = w.decide(ctx, &ms[i]); err != nil {
				return err
			}
		}
		return w.write(ctx)
	})
	if err != nil {
		return nil, translate("write config", err)
	}
	return results, nil
}

// read takes the shard's lock, which all writers of rows take, and reads the rows
// under it.
func (w *configWrite) read(ctx context.Context, ms []links.ConfigMutation) error {
	names := make([]string, len(ms))
	for i := range ms {
		names[i] = ms[i].Row
	}
	b := &pgx.Batch{}
	b.Queue(lockHeads, []int16{feed.ConfigShard}).QueryRow(func(row pgx.Row) error {
		var head int64
		err := row.Scan(nil, &head)
		w.head = unsigned(head)
		return err
	})
	b.Queue(readEpoch).QueryRow(func(row pgx.Row) error {
		var epoch int64
		err := row.Scan(&epoch, &w.now)
		w.epoch, w.now = unsigned(epoch), w.now.UTC()
		return err
	})
	b.Queue(`SELECT e.n, c.name, c.value, c.version FROM epoch e CROSS JOIN config_row c WHERE c.name = ANY($1)`, names).
		Query(func(rows pgx.Rows) error {
			found, err := pgx.CollectRows(rows, scanConfigRow)
			w.rows = make(map[string]links.ConfigRow, len(found))
			for _, r := range found {
				w.rows[r.Name] = r
			}
			return err
		})
	return w.tx.SendBatch(ctx, b).Close()
}

// decide applies a mutation's rule to its row. The error is one of PostgreSQL.
func (w *configWrite) decide(ctx context.Context, m *links.ConfigMutation) (links.ConfigResult, error) {
	row, existed := w.rows[m.Row]
	var old *links.ConfigRow
	if existed {
		old = &row
	}
	value, refusal := m.Merge(old, w.now)
	if refusal == nil && value == row.Value {
		return links.ConfigResult{Row: row}, nil
	}
	var err error
	switch {
	case refusal != nil:
	case value == "":
		refusal, err = w.mayRemove(ctx, m)
	case !existed:
		refusal, err = w.mayAdd(ctx, m)
	}
	if refusal == nil && err == nil {
		refusal, err = w.mayGrow(ctx, &row, links.ConfigRow{Name: m.Row, Value: value})
	}
	if refusal != nil || err != nil {
		return links.ConfigResult{Err: refusal}, err
	}
	return w.take(m.Row, value, existed), nil
}

// take gives the row its value and the next position.
func (w *configWrite) take(name, value string, existed bool) links.ConfigResult {
	w.head++
	kind := feed.Create
	if existed {
		kind = feed.Changed
	}
	c := &feed.Change{
		Epoch: w.epoch, Shard: feed.ConfigShard, Seq: w.head, Kind: kind,
		At: feed.Micros(w.now), Key: link.Key{Code: name}, Value: value,
	}
	w.changes = append(w.changes, c)
	if value == "" {
		w.removed = append(w.removed, name)
	} else {
		w.names, w.values, w.versions = append(w.names, name), append(w.values, value), append(w.versions, signed(w.head))
	}
	return links.ConfigResult{Row: links.ConfigRow{Name: name, Value: value, Epoch: w.epoch, Version: w.head}, Change: c}
}

// mayAdd keeps the rows of a kind within their number: links.ErrFull is its
// refusal.
func (w *configWrite) mayAdd(ctx context.Context, m *links.ConfigMutation) (refusal, err error) {
	if m.Most == 0 {
		return nil, nil
	}
	kind, _, _ := strings.Cut(m.Row, "/")
	n, counted := w.count[kind]
	if !counted {
		err := w.tx.QueryRow(ctx, `SELECT count(*) FROM config_row WHERE name >= $1 AND name < $2`,
			kind+"/", beyond(kind+"/")).Scan(&n)
		if err != nil {
			return nil, err
		}
	}
	if n >= m.Most {
		return links.ErrFull, nil
	}
	w.count[kind] = n + 1
	return nil, nil
}

// mayGrow keeps all rows together within maxConfigBytes: links.ErrFull is its
// refusal. A row that is not there has no name.
func (w *configWrite) mayGrow(ctx context.Context, from *links.ConfigRow, to links.ConfigRow) (refusal, err error) {
	by := int64(len(to.Name) + len(to.Value) - len(from.Name) - len(from.Value))
	if to.Value == "" || by <= 0 {
		return nil, nil
	}
	if w.bytes < 0 {
		err := w.tx.QueryRow(ctx, `SELECT coalesce(sum(octet_length(name) + octet_length(value)), 0) FROM config_row`).Scan(&w.bytes)
		if err != nil {
			return nil, err
		}
	}
	if w.bytes+by > maxConfigBytes {
		return links.ErrFull, nil
	}
	w.bytes += by
	return nil, nil
}

// mayRemove keeps the row of a domain that has links: links.ErrInUse is its
// refusal.
func (w *configWrite) mayRemove(ctx context.Context, m *links.ConfigMutation) (refusal, err error) {
	host, ok := strings.CutPrefix(m.Row, feed.DomainRow(""))
	if !ok {
		return nil, nil
	}
	// Whoever makes a link there holds the row. Once it is held here they have
	// committed, or come too late; before that, a look spares the wait for them.
	if refusal, err := w.used(ctx, host); refusal != nil || err != nil {
		return refusal, err
	}
	if _, err := w.tx.Exec(ctx, `SELECT FROM config_row WHERE name = $1 FOR UPDATE`, m.Row); err != nil {
		return nil, err
	}
	return w.used(ctx, host)
}

func (w *configWrite) used(ctx context.Context, domain string) (refusal, err error) {
	var used bool
	err = w.tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM links WHERE domain = $1 AND deleted_at IS NULL)`, domain).Scan(&used)
	if used {
		refusal = links.ErrInUse
	}
	return refusal, err
}

func (w *configWrite) write(ctx context.Context) error {
	if len(w.changes) == 0 {
		return nil
	}
	b := &pgx.Batch{}
	b.Queue(`DELETE FROM config_row WHERE name = ANY($1)`, w.removed)
	b.Queue(`INSERT INTO config_row (name, value, version) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
		ON CONFLICT (name) DO UPDATE SET value = excluded.value, version = excluded.version`, w.names, w.values, w.versions)
	queueChanges(b, w.changes)
	return w.tx.SendBatch(ctx, b).Close()
}
