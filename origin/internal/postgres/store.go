package postgres

import (
	"context"
	"maps"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
)

// Store is PostgreSQL as the origin sees it. All methods are safe for
// concurrent use. An error for which errors.Is(err, link.ErrUnavailable) holds
// means that PostgreSQL was out of reach, too slow or overloaded: the same call
// may work later.
type Store struct {
	pool       *pgxpool.Pool
	edges      *pgxpool.Pool // for what edges wait for: however many writes are stuck, they get an answer
	clicks     *pgxpool.Pool // for ApplyStretch and Use, which wait for each other's rows, and for nobody else's connections
	timeout    time.Duration // of one call, or one transaction
	ingestTime time.Duration // of one ApplyStretch
	keepHours  time.Duration // for how long clicks are kept by the hour
	keepPast   time.Duration // for how long histories are kept
	reach      reach         // of lists
	lane       lane          // of writes of single links
	briefWait  time.Duration // of a transaction of several callers for a lock
	loads      atomic.Uint64
	counted    struct{ stretches, clicks, repeated, moved atomic.Uint64 }
	damages    *damages

	keys    *joint[string, links.APIKey]
	configs *joint[int, position]       // of the config shard
	config  atomic.Pointer[feed.Config] // as it was last asked for; nil before
}

const (
	// EdgeConns is the number of connections that serve Heads, Entry, Changes,
	// Codes, Config and Ping, and nothing else.
	EdgeConns = 8

	// MaxStretches is how many calls of ApplyStretch find a connection at the same
	// time. More of them would wait for those of Use, and keep them waiting, so it
	// is for the caller to make no more.
	MaxStretches = 2

	// MaxUses is the same of Use.
	MaxUses = 4
)

// Open connects to the primary, once, to find out whether it can be used: a
// server with synchronous_commit off and a standby are refused. The schema is
// Migrate's.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	poolConfig, err := cfg.pool()
	if err != nil {
		return nil, err
	}
	return connect(ctx, cfg, poolConfig)
}

// connect makes all pools of one configuration.
func connect(ctx context.Context, cfg Config, poolConfig *pgxpool.Config) (*Store, error) {
	edgeConfig, clickConfig := poolConfig.Copy(), poolConfig.Copy()
	edgeConfig.MaxConns, clickConfig.MaxConns = EdgeConns, MaxStretches+MaxUses
	ingest := ingestPace * cfg.statementTimeout()
	maps.Copy(clickConfig.ConnConfig.RuntimeParams, ingestParams(ingest))
	s := &Store{
		timeout: cfg.statementTimeout() + answerTime, ingestTime: ingest + answerTime,
		briefWait: min(briefWait, or(cfg.LockTimeout, defaultLockTimeout)),
		damages:   newDamages(cfg.Logger),
		keepHours: or(cfg.ClickHours, defaultClickHours),
		keepPast:  or(cfg.HistoryRetention, defaultHistoryRetention),
		reach:     reach{near: nearLinks, far: farLinks, only: onlyLinks},
	}
	s.keys = newJoint(min(keyTimeout, s.timeout), s.readKeys)
	s.configs = newJoint(s.timeout, s.readPositions)
	for _, p := range []struct {
		place  **pgxpool.Pool
		config *pgxpool.Config
	}{{&s.pool, poolConfig}, {&s.edges, edgeConfig}, {&s.clicks, clickConfig}} {
		pool, err := pgxpool.NewWithConfig(ctx, p.config)
		if err != nil {
			s.Close()
			return nil, translate("open", err)
		}
		*p.place = pool
	}
	if err := s.Ping(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close waits for running calls and closes all connections.
func (s *Store) Close() {
	for _, pool := range []*pgxpool.Pool{s.pool, s.edges, s.clicks} {
		if pool != nil {
			pool.Close()
		}
	}
}

// Ping returns nil if PostgreSQL answers.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return translate("ping", s.edges.Ping(ctx))
}

// Loads counts the reads of a link for a fill since Open: each Entry is one.
func (s *Store) Loads() uint64 { return s.loads.Load() }

// ClickStats counts since Open.
type ClickStats struct {
	Stretches uint64 // applied
	Clicks    uint64 // in them, those of links without counters too
	Repeated  uint64 // stretches that were not applied: they did not begin at their log's mark
	Moved     uint64 // clicks that were counted in another hour than they said, which was too far off
	Damaged   uint64 // columns that could not be read, each once
}

// ClickStats is a snapshot.
func (s *Store) ClickStats() ClickStats {
	return ClickStats{
		Stretches: s.counted.stretches.Load(), Clicks: s.counted.clicks.Load(), Repeated: s.counted.repeated.Load(),
		Moved: s.counted.moved.Load(), Damaged: s.damages.found.Load(),
	}
}
