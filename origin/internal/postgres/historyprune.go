package postgres

import "context"

// keepHistory is the most entries that are kept of one history, the newest ones,
// but for up to a hundred more.
const keepHistory = 1000

// pruneHistory drops what is older than the store is set to keep, and of each
// history all but the newest entries. That a history is long is known from every
// hundredth number, which is indexed, so that no others are looked at.
//
// It drops the oldest entries of a history only, so that those that stay are
// without a gap.
func (s *Store) pruneHistory(ctx context.Context) error {
	const old = `DELETE FROM link_history WHERE (history_id, version) IN (
		SELECT history_id, version FROM link_history WHERE at < clock_timestamp() - $1::interval ORDER BY at LIMIT $2)`
	if err := s.pruneRows(ctx, "prune history", old, s.keepPast, pruneRows); err != nil {
		return err
	}
	const long = `DELETE FROM link_history WHERE (history_id, version) IN (
		SELECT h.history_id, h.version
		FROM (SELECT history_id, max(number) - $1 AS last FROM link_history WHERE number % 100 = 0 AND number > $1 GROUP BY history_id) l
		CROSS JOIN LATERAL (SELECT number FROM link_history WHERE history_id = l.history_id ORDER BY version LIMIT 1) oldest
		JOIN link_history h ON oldest.number <= l.last AND h.history_id = l.history_id AND h.number <= l.last LIMIT $2)`
	return s.pruneRows(ctx, "prune histories", long, keepHistory, pruneRows)
}

// pruneOnce drops the answers of calls that nobody repeats any more.
func (s *Store) pruneOnce(ctx context.Context) error {
	return s.pruneRows(ctx, "prune once", `DELETE FROM once WHERE (call, item) IN (
		SELECT call, item FROM once WHERE at < clock_timestamp() - $1::interval ORDER BY at LIMIT $2)`, keepOnce, pruneRows)
}

// pruneRows repeats a statement that deletes so many rows at a time until it
// finds fewer. Their number is its last value.
func (s *Store) pruneRows(ctx context.Context, what, statement string, first any, most int) error {
	for {
		deleted, err := s.deleteRows(ctx, statement, first, most)
		if err != nil || deleted < int64(most) {
			return translate(what, err)
		}
	}
}

func (s *Store) deleteRows(ctx context.Context, statement string, values ...any) (deleted int64, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	tag, err := s.pool.Exec(ctx, statement, values...)
	return tag.RowsAffected(), err
}
