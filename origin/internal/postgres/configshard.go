package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// Config reads all rows of the config shard with their position, in one
// snapshot.
func (s *Store) Config(ctx context.Context) (*feed.Config, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	rows, err := s.edges.Query(ctx, `
		SELECT e.n, h.seq, c.name, c.value
		FROM epoch e CROSS JOIN shard_head h LEFT JOIN config_row c ON true
		WHERE h.shard = $1`, feed.ConfigShard)
	if err != nil {
		return nil, translate("config", err)
	}
	cfg := &feed.Config{Rows: make(map[string]string)}
	var epoch, head int64
	var name, value pgtype.Text
	_, err = pgx.ForEachRow(rows, []any{&epoch, &head, &name, &value}, func() error {
		if name.Valid {
			cfg.Rows[name.String] = value.String
		}
		return nil
	})
	if err != nil {
		return nil, translate("config", err)
	}
	cfg.Epoch, cfg.Seq = unsigned(epoch), unsigned(head)
	return cfg, nil
}

// WriteConfig gives a row of the config shard a value (JSON; "" removes the
// row) and returns the change to publish, or nil if the row has that value.
func (s *Store) WriteConfig(ctx context.Context, row, value string) (*feed.Change, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var c *feed.Change
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		c, err = writeConfig(ctx, tx, row, value)
		return err
	})
	if err != nil {
		return nil, translate("write config "+row, err)
	}
	return c, nil
}

func writeConfig(ctx context.Context, tx pgx.Tx, row, value string) (*feed.Change, error) {
	var head int64
	err := tx.QueryRow(ctx, lockHeads, []int16{feed.ConfigShard}).Scan(nil, &head)
	if err != nil {
		return nil, err
	}
	var epoch int64
	var now time.Time
	if err := tx.QueryRow(ctx, readEpoch).Scan(&epoch, &now); err != nil {
		return nil, err
	}
	var old string
	err = tx.QueryRow(ctx, `SELECT value FROM config_row WHERE name = $1`, row).Scan(&old)
	existed := err == nil
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, err
	}
	if old == value {
		return nil, nil //nolint:nilnil // no change is an answer, documented at WriteConfig
	}
	kind := feed.Create
	if existed {
		kind = feed.Changed
	}
	c := &feed.Change{
		Epoch: unsigned(epoch), Shard: feed.ConfigShard, Seq: unsigned(head) + 1, Kind: kind,
		At: feed.Micros(now), Key: link.Key{Code: row}, Value: value,
	}
	b := &pgx.Batch{}
	if value == "" {
		b.Queue(`DELETE FROM config_row WHERE name = $1`, row)
	} else {
		b.Queue(`INSERT INTO config_row (name, value) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`, row, value)
	}
	queueChanges(b, []*feed.Change{c})
	return c, tx.SendBatch(ctx, b).Close()
}
