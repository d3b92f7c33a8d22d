package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
)

// Config returns all rows of the config shard with their position, as they were
// at one moment after the call began. Every write asks for them, so they are kept:
// a call reads their position, and of the rows only what came after those it has.
func (s *Store) Config(ctx context.Context) (*feed.Config, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	at, _, err := s.configs.read(ctx, feed.ConfigShard)
	if err != nil {
		return nil, translate("config", err)
	}
	kept := s.config.Load()
	if kept != nil && kept.Epoch == at.epoch && kept.Seq == at.seq {
		return kept, nil
	}
	cfg, err := s.configAfter(ctx, kept)
	if err != nil {
		return nil, err
	}
	s.config.Store(cfg) // or an older one by another call, which the next one will see to
	return cfg, nil
}

// KnownConfig is what Config returned last; nil before it was called.
func (s *Store) KnownConfig() *feed.Config { return s.config.Load() }

// position is where a shard stands.
type position struct{ epoch, seq uint64 }

// readPositions reads where shards stand.
func (s *Store) readPositions(ctx context.Context, shards []int) (map[int]position, error) {
	rows, err := s.edges.Query(ctx, `SELECT e.n, h.shard, h.seq FROM epoch e CROSS JOIN shard_head h WHERE h.shard = ANY($1)`, shards)
	if err != nil {
		return nil, err
	}
	at := make(map[int]position, len(shards))
	var epoch, seq int64
	var shard int
	_, err = pgx.ForEachRow(rows, []any{&epoch, &shard, &seq}, func() error {
		at[shard] = position{epoch: unsigned(epoch), seq: unsigned(seq)}
		return nil
	})
	return at, err
}

// configAfter brings a config up to date, by its changes if these are on one page.
func (s *Store) configAfter(ctx context.Context, cfg *feed.Config) (*feed.Config, error) {
	if cfg == nil {
		return s.wholeConfig(ctx)
	}
	page, err := s.Changes(ctx, feed.ConfigShard, cfg.Epoch, cfg.Seq)
	switch {
	case err != nil:
		return nil, err
	case page.Reset, page.Head-cfg.Seq != uint64(len(page.Rows)):
		return s.wholeConfig(ctx)
	}
	for _, c := range page.Rows {
		cfg = cfg.With(c)
	}
	return cfg, nil
}

// wholeConfig reads all rows and their position in one snapshot.
func (s *Store) wholeConfig(ctx context.Context) (*feed.Config, error) {
	rows, err := s.edges.Query(ctx, `
		SELECT e.n, h.seq, c.name, c.value
		FROM epoch e CROSS JOIN shard_head h LEFT JOIN config_row c ON true
		WHERE h.shard = $1`, feed.ConfigShard)
	if err != nil {
		return nil, translate("config", err)
	}
	values := make(map[string]string)
	var epoch, head int64
	var name, value pgtype.Text
	_, err = pgx.ForEachRow(rows, []any{&epoch, &head, &name, &value}, func() error {
		if name.Valid {
			values[name.String] = value.String
		}
		return nil
	})
	if err != nil {
		return nil, translate("config", err)
	}
	return feed.NewConfig(unsigned(epoch), unsigned(head), values), nil
}

// ConfigRows reads up to limit rows whose names begin with a prefix, in byte
// order, after the given name; "" starts.
func (s *Store) ConfigRows(ctx context.Context, prefix, after string, limit int) ([]links.ConfigRow, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, `SELECT e.n, c.name, c.value, c.version FROM epoch e CROSS JOIN config_row c
		WHERE c.name >= $1 AND c.name < $2 AND c.name > $3 ORDER BY c.name LIMIT $4`,
		prefix, beyond(prefix), after, limit)
	if err != nil {
		return nil, translate("config rows", err)
	}
	found, err := pgx.CollectRows(rows, scanConfigRow)
	return found, translate("config rows", err)
}

func scanConfigRow(row pgx.CollectableRow) (r links.ConfigRow, err error) {
	var epoch, version int64
	err = row.Scan(&epoch, &r.Name, &r.Value, &version)
	r.Epoch, r.Version = unsigned(epoch), unsigned(version)
	return r, err
}

// beyond is the first text, in byte order, after all that begin with a prefix of
// ASCII.
func beyond(prefix string) string {
	last := len(prefix) - 1
	return prefix[:last] + string(prefix[last]+1)
}
