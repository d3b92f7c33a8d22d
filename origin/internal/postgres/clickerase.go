package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// queueErase queues what deletes all that is counted of links but their totals.
// The links must be locked, by a statement before: only then does this one see
// all that was counted.
func queueErase(b *pgx.Batch, ids []int64) {
	for _, table := range []string{"click_newest", "click_hour", "click_day", "click_detail", "click_visitors"} {
		b.Queue(`DELETE FROM `+table+` WHERE link_id = ANY($1)`, ids)
	}
}

// EraseClicks deletes all clicks of a link that are counted so far, without a
// trace; nothing for a link that has none. Those that edges hold and have not
// sent yet are counted when they come, as are later ones. Uses that a limit was
// asked for are no clicks and stay.
func (s *Store) EraseClicks(ctx context.Context, id int64) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue(`SELECT FROM click_link WHERE link_id = $1 FOR UPDATE`, id)
		b.Queue(`UPDATE click_link SET clicks = 0, bots = 0 WHERE link_id = $1`, id)
		queueErase(b, []int64{id})
		return tx.SendBatch(ctx, b).Close()
	})
	return translate("erase clicks", err)
}
