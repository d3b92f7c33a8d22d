package limit

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/redis/go-redis/v9"
)

// Mode says where a request is decided.
type Mode string

// The modes. The zero Mode is Async.
const (
	Async Mode = "async" // in memory, settled with Redis afterwards
	Exact Mode = "exact" // in Redis, one round trip a request
	Off   Mode = "off"   // everything is admitted
)

// Defaults of Config.
const (
	DefaultSettle  = 50 * time.Millisecond
	DefaultTimeout = 50 * time.Millisecond
	// DefaultExactTimeout is longer: in mode Exact nothing may be admitted beyond
	// the shared bucket, so Redis is worth waiting for on a busy machine.
	DefaultExactTimeout = 500 * time.Millisecond
	DefaultTable        = 1 << 16
)

const (
	maxRate   = 1e6            // tokens a second: buckets count in whole µs a token
	maxRefill = 24 * time.Hour // of an empty bucket
	maxTable  = 1 << 24        // clients
)

// Config says how to limit. Rate and Burst are required unless Mode is Off.
type Config struct {
	Mode Mode

	// Rate is the refill of a client's bucket in tokens a second, at most a
	// million. It counts in whole µs a token, rounded to the slower side.
	Rate float64
	// Burst is the size of a client's bucket in tokens.
	Burst int
	// LocalBurst is how many tokens of the bucket, at most, an edge in mode
	// Async spends before it has settled them with Redis; 0 means Burst. Each
	// edge may spend so many beyond the shared bucket, once: smaller over-admits
	// less, and refuses a client that sends more of its burst to one edge within
	// one Settle.
	LocalBurst int

	// Redis is the region's; nil means local buckets only. It must heed the
	// deadlines of contexts (ContextTimeoutEnabled). It stays the caller's.
	Redis redis.UniversalClient
	// Prefix begins every key: "<prefix>:{<client>}:l".
	Prefix string
	// Settle is the time from the start of one settling round to the next; 0
	// means DefaultSettle.
	Settle time.Duration
	// Timeout bounds one round trip to Redis; 0 means DefaultTimeout, or
	// DefaultExactTimeout in mode Exact.
	Timeout time.Duration
	// OnRedis, if set, is called by Run with the first state of Redis and with
	// every change: nil for reachable, else the error that made the limiter
	// give it up for the time being.
	OnRedis func(error)

	// Table is how many clients the edge's memory holds, rounded up to a power
	// of two; 0 means DefaultTable. It costs 24 bytes a client, 1.5 MiB by
	// default, all of it from the start.
	Table int
	// Clock is a monotonic clock that starts near 0; nil means the time since
	// New. It is good for 4 years.
	Clock func() time.Duration
}

// withDefaults fills in what is zero.
func (c Config) withDefaults() Config {
	if c.Mode == "" {
		c.Mode = Async
	}
	if c.LocalBurst == 0 {
		c.LocalBurst = c.Burst
	}
	if c.Settle == 0 {
		c.Settle = DefaultSettle
	}
	if c.Timeout == 0 && c.Mode == Exact {
		c.Timeout = DefaultExactTimeout
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Table == 0 {
		c.Table = DefaultTable
	}
	if c.OnRedis == nil {
		c.OnRedis = func(error) {}
	}
	if c.Clock == nil {
		start := time.Now()
		c.Clock = func() time.Duration { return time.Since(start) }
	}
	return c
}

// validate returns every fault of c, joined.
func (c Config) validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }

	switch c.Mode {
	case Off:
		return nil
	case Async, Exact:
	default:
		fault("limit mode %q: want async, exact or off", c.Mode)
	}
	switch {
	case !(c.Rate > 0 && c.Rate <= maxRate): // NaN too
		fault("limit rate %v: want more than 0 and at most %v tokens a second", c.Rate, maxRate)
	case c.Burst < 1:
		fault("limit burst %d: want at least 1", c.Burst)
	case float64(c.Burst)/c.Rate > maxRefill.Seconds():
		fault("limit burst %d at rate %v: an empty bucket takes more than %v to refill", c.Burst, c.Rate, maxRefill)
	case c.LocalBurst < 1 || c.LocalBurst > c.Burst:
		fault("limit local burst %d: want 1 to the burst of %d", c.LocalBurst, c.Burst)
	}
	if c.Settle < 0 || c.Timeout < 0 {
		fault("limit settle %v, timeout %v: want more than 0", c.Settle, c.Timeout)
	}
	if c.Table < 0 || c.Table > maxTable {
		fault("limit table %d: want 1 to %d clients", c.Table, maxTable)
	}
	if !heedsDeadlines(c.Redis) {
		fault("limit redis: the client must have ContextTimeoutEnabled, else a slow Redis blocks a request")
	}
	return errors.Join(faults...)
}

// interval is the time in which one token comes, in µs.
func (c Config) interval() int64 { return int64(math.Ceil(1e6 / c.Rate)) }

// heedsDeadlines says whether commands of client end at their context's
// deadline. Clients that cannot be asked are believed.
func heedsDeadlines(client redis.UniversalClient) bool {
	switch c := client.(type) {
	case *redis.Client:
		return c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		return c.Options().ContextTimeoutEnabled
	case *redis.Ring:
		return c.Options().ContextTimeoutEnabled
	default:
		return true
	}
}
