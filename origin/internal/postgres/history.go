package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// remember has the history of a key told of a write.
func (t *transaction) remember(j *job, h *held, old, l *link.Link) error {
	e, err := j.m.Record(old, l)
	if err != nil {
		return err
	}
	if old == nil {
		return t.history.add(l.ID, true, &e)
	}
	return t.history.add(h.history.Int64, false, &e)
}

// histories are rows of link_history on their way to it, a slice a column.
type histories struct {
	ids, versions, previous []int64
	fresh                   []bool
	by, owners, actions     []string
	changes                 []string
}

// add takes the entry of a history; a fresh one has no entry before it.
func (h *histories) add(id int64, fresh bool, e *links.Entry) error {
	changes, err := e.Changes.Encode()
	if err != nil {
		return fmt.Errorf("history %d: %w", id, err)
	}
	h.ids, h.fresh = append(h.ids, id), append(h.fresh, fresh)
	h.versions, h.previous = append(h.versions, signed(e.Version)), append(h.previous, signed(e.Previous))
	h.by, h.owners = append(h.by, e.By), append(h.owners, e.Owner)
	h.actions, h.changes = append(h.actions, string(e.Action)), append(h.changes, string(changes))
	return nil
}

// insertHistory numbers the entries of a history while its shard's head is
// locked, so that no two take the same number.
const insertHistory = `
	INSERT INTO link_history (history_id, version, previous, number, at, by_key, owner, action, changes)
	SELECT v.id, v.version, v.previous, CASE WHEN v.fresh THEN 1 ELSE 1 + coalesce((
			SELECT h.number FROM link_history h WHERE h.history_id = v.id ORDER BY h.version DESC LIMIT 1), 0) END,
		$9, v.by_key, v.owner, v.action, v.changes
	FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[], $5::text[], $6::text[], $7::text[], $8::json[])
		v(id, version, previous, fresh, by_key, owner, action, changes)`

// queue queues the rows, which were written at now.
func (h *histories) queue(b *pgx.Batch, now time.Time) {
	if len(h.ids) > 0 {
		b.Queue(insertHistory, h.ids, h.versions, h.previous, h.fresh, h.by, h.owners, h.actions, h.changes, now)
	}
}

// History reads a link, a deleted one too, and entries of the history of its
// key, newest first, in one snapshot. The error is link.ErrNotFound if there
// never was a link.
func (s *Store) History(ctx context.Context, key link.Key, w links.Window) (links.Past, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var past links.Past
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, s.pool, snapshot, func(tx pgx.Tx) (err error) {
		past, err = readHistory(ctx, tx, key, w)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return links.Past{}, link.ErrNotFound
	}
	if err != nil {
		return links.Past{}, translate("history of "+key.String(), err)
	}
	return past, nil
}

func readHistory(ctx context.Context, tx pgx.Tx, key link.Key, w links.Window) (past links.Past, err error) {
	var epoch, id int64
	var r linkRow
	err = tx.QueryRow(ctx, `SELECT e.n, coalesce(l.history_id, l.link_id), `+linkColumns+`
		FROM epoch e JOIN links l ON l.domain = $1 AND l.code = $2`, key.Domain, key.Code).
		Scan(append([]any{&epoch, &id}, r.dest()...)...)
	if err != nil {
		return links.Past{}, err
	}
	past.Link = r.link(unsigned(epoch))
	below := pgtype.Int8{Int64: signed(w.Below), Valid: w.Below > 0}
	rows, err := tx.Query(ctx, `SELECT version, previous, at, by_key, owner, action, changes FROM link_history
		WHERE history_id = $1 AND version >= $2 AND version < coalesce($3, 9223372036854775807) AND owner = coalesce($4, owner)
		ORDER BY version DESC LIMIT $5`, id, signed(w.From), below, w.Owner, w.Limit)
	if err != nil {
		return links.Past{}, err
	}
	past.Entries, err = pgx.CollectRows(rows, scanEntry)
	return past, err
}

func scanEntry(row pgx.CollectableRow) (e links.Entry, err error) {
	var version, previous int64
	var changes []byte
	if err := row.Scan(&version, &previous, &e.At, &e.By, &e.Owner, &e.Action, &changes); err != nil {
		return links.Entry{}, err
	}
	e.Version, e.Previous, e.At = unsigned(version), unsigned(previous), e.At.UTC()
	err = json.Unmarshal(changes, &e.Changes)
	return e, err
}
