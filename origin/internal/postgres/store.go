package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Store is PostgreSQL as the origin sees it. All methods are safe for
// concurrent use. An error for which errors.Is(err, link.ErrUnavailable) holds
// means that PostgreSQL was out of reach, too slow or overloaded: the same call
// may work later.
type Store struct {
	pool    *pgxpool.Pool
	edges   *pgxpool.Pool // for what edges wait for: however many writes are stuck, they get an answer
	timeout time.Duration // of one call, or one transaction
	loads   atomic.Uint64
}

// EdgeConns is the number of connections that serve Heads, Entry, Changes,
// Codes, Config and Ping, and nothing else.
const EdgeConns = 8

// Open connects to the primary, once, to find out whether it can be used: a
// server with synchronous_commit off and a standby are refused. The schema is
// Migrate's.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	poolConfig, err := cfg.pool()
	if err != nil {
		return nil, err
	}
	return connect(ctx, poolConfig, cfg.statementTimeout()+answerTime)
}

// connect makes both pools of one configuration.
func connect(ctx context.Context, poolConfig *pgxpool.Config, timeout time.Duration) (*Store, error) {
	edgeConfig := poolConfig.Copy()
	edgeConfig.MaxConns = EdgeConns
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return nil, translate("open", err)
	}
	edges, err := pgxpool.NewWithConfig(ctx, edgeConfig)
	if err != nil {
		pool.Close()
		return nil, translate("open", err)
	}
	s := &Store{pool: pool, edges: edges, timeout: timeout}
	if err := s.Ping(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close waits for running calls and closes all connections.
func (s *Store) Close() {
	s.pool.Close()
	s.edges.Close()
}

// Ping returns nil if PostgreSQL answers.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return translate("ping", s.edges.Ping(ctx))
}

// Loads counts the reads of a link for a fill since Open: each Entry is one.
func (s *Store) Loads() uint64 { return s.loads.Load() }
