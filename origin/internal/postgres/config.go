package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Config says where PostgreSQL is and how long it may take.
type Config struct {
	URL      string `env:"WAYPOST_DATABASE_URL" required:"true" secret:"true" format:"url" help:"PostgreSQL, the primary: postgres://user:password@host:port/database"`
	MaxConns int    `env:"WAYPOST_DATABASE_CONNS" default:"20" min:"2" max:"1000" unit:"connections" help:"most connections to PostgreSQL for the admin API; edges have 14 more to themselves"`

	// ConnectTimeout bounds the start of one connection.
	ConnectTimeout time.Duration `env:"WAYPOST_DATABASE_CONNECT_TIMEOUT" default:"3s" min:"100ms" max:"1m" help:"longest wait for a new connection to PostgreSQL"`
	// StatementTimeout bounds one statement, its waiting for locks included, and
	// how long a transaction may be left idle.
	StatementTimeout time.Duration `env:"WAYPOST_DATABASE_TIMEOUT" default:"5s" min:"100ms" max:"1m" help:"longest run of one statement in PostgreSQL"`
	// LockTimeout bounds the wait for one lock.
	LockTimeout time.Duration `env:"WAYPOST_DATABASE_LOCK_TIMEOUT" default:"3s" min:"10ms" max:"1m" help:"longest wait of a write for the writes before it"`

	// ClickHours is in whole days, besides today; what is left over does not count.
	ClickHours time.Duration `env:"WAYPOST_CLICKS_HOURS" default:"2160h" min:"48h" max:"876000h" help:"for how long clicks are kept by the hour, and the counts of a deleted link at all; by the day they are kept for ever"`

	HistoryRetention time.Duration `env:"WAYPOST_HISTORY_RETENTION" default:"9600h" min:"24h" max:"876000h" help:"for how long the history of links is kept, of each link the newest thousand changes at most"`

	// Logger is told of counters that are damaged; nil: nobody is.
	Logger *slog.Logger
}

// The values that stand in for zero ones, so that a Config with only a URL works.
const (
	defaultMaxConns         = 20
	defaultConnectTimeout   = 3 * time.Second
	defaultStatementTimeout = 5 * time.Second
	defaultLockTimeout      = 3 * time.Second
	defaultClickHours       = 90 * day
	defaultHistoryRetention = 400 * day
)

// ingestPace is how much longer a statement may take that counts a stretch: it
// writes tens of thousands of rows.
const ingestPace = 3

// ingestParams are the settings of sessions that count clicks. They look rows up
// by their keys, thousands at a time: the planner, which knows the number and
// not that nearly every row is in memory, would now and then read a whole table
// instead.
func ingestParams(statement time.Duration) map[string]string {
	return map[string]string{
		"statement_timeout": millis(statement), "lock_timeout": millis(statement),
		"idle_in_transaction_session_timeout": millis(statement),
		"enable_hashjoin":                     "off", "enable_mergejoin": "off",
		"work_mem": "16MB",
	}
}

func (c Config) pool() (*pgxpool.Config, error) {
	pool, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	pool.MaxConns = int32(or(c.MaxConns, defaultMaxConns)) //nolint:gosec // at most 1,000
	pool.MaxConnLifetime = 30 * time.Minute                // a changed server setting reaches every connection
	pool.MaxConnLifetimeJitter = 5 * time.Minute
	pool.HealthCheckPeriod = 15 * time.Second
	pool.ConnConfig.ConnectTimeout = or(c.ConnectTimeout, defaultConnectTimeout)
	statement := c.statementTimeout()
	maps.Copy(pool.ConnConfig.RuntimeParams, map[string]string{
		"application_name":  "waypost-origin",
		"statement_timeout": millis(statement),
		"lock_timeout":      millis(or(c.LockTimeout, defaultLockTimeout)),
		// An origin that is stopped inside a write holds its shards' heads: the server lets go of them.
		"idle_in_transaction_session_timeout": millis(statement),
		// A statement takes a millisecond, and to compile it half a second of a processor, each time: a plan can look
		// dear enough for that, because a table was never analysed, or by the settings of ingestParams.
		"jit": "off",
		// Whatever is asked for has an index, and most of it is in memory, which the planner does not know: it would now
		// and then read all links instead.
		"enable_seqscan": "off",
	})
	// Not by the context of whoever asked for the connection: the pool goes on
	// without them, and a server that hangs would keep the connection's place.
	pool.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		ctx, cancel := context.WithTimeout(ctx, pool.ConnConfig.ConnectTimeout)
		defer cancel()
		return checkConn(ctx, conn)
	}
	return pool, nil
}

func (c Config) statementTimeout() time.Duration {
	return or(c.StatementTimeout, defaultStatementTimeout)
}

func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
