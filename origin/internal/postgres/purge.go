package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// Purge makes every edge fetch keys anew: each row, a tombstone's too, gets a
// position without being changed, so that its version stays. A key without a
// row is link.ErrNotFound in its result. Otherwise it is like Write.
func (s *Store) Purge(ctx context.Context, keys []link.Key) ([]links.Result, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if len(keys) > MaxWrite {
		return nil, fmt.Errorf("postgres purge: %d keys, at most %d", len(keys), MaxWrite)
	}
	results := make([]links.Result, len(keys))
	jobs := make([]*job, len(keys))
	for i, key := range keys {
		jobs[i] = &job{m: &links.Mutation{Key: key}, purge: true, res: &results[i], key: key}
	}
	s.carryOut(ctx, jobs)
	return results, nil
}

// PurgeAll makes every edge fetch every link anew, by one change of each link
// shard. It is one transaction: all changes or, with an error, none.
func (s *Store) PurgeAll(ctx context.Context) ([]*feed.Change, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var changes []*feed.Change
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		changes, err = purgeAll(ctx, tx)
		return err
	})
	if err != nil {
		return nil, translate("purge all", err)
	}
	return changes, nil
}

func purgeAll(ctx context.Context, tx pgx.Tx) ([]*feed.Change, error) {
	rows, err := tx.Query(ctx, lockHeads, firstShards(feed.Shards))
	if err != nil {
		return nil, err
	}
	changes, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*feed.Change, error) {
		c := &feed.Change{Kind: feed.PurgeAll}
		var head int64
		err := row.Scan(&c.Shard, &head)
		c.Seq = unsigned(head) + 1
		return c, err
	})
	if err != nil {
		return nil, err
	}
	var epoch int64
	var now time.Time
	if err := tx.QueryRow(ctx, readEpoch).Scan(&epoch, &now); err != nil {
		return nil, err
	}
	for _, c := range changes {
		c.Epoch, c.At = unsigned(epoch), feed.Micros(now)
	}
	b := &pgx.Batch{}
	queueChanges(b, changes)
	return changes, tx.SendBatch(ctx, b).Close()
}
