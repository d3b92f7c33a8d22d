package edgeapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"waypost/origin/internal/outage"
	"waypost/shared/click"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// loader fills: one entry, protected from stampedes.
type loader interface {
	Load(ctx context.Context, key link.Key, epoch, minSeq uint64) (*feed.Entry, error)
}

// prober answers probes of edges, which by that become and stay members.
type prober interface {
	Answer(ctx context.Context, p *feed.Probe) (*feed.Heads, error)
	Heads(ctx context.Context) (*feed.Heads, error)
}

// acknowledger takes what edges say they have applied. It does not wait.
type acknowledger interface {
	Ack(a *feed.Ack)
}

// feedStore reads what came after positions, each answer from one snapshot of
// the primary.
type feedStore interface {
	Changes(ctx context.Context, shard int, epoch, from uint64) (*feed.Changes, error)
	Codes(ctx context.Context, shard int, after link.Key) (*feed.Codes, error)
}

// configStore reads the config shard from one snapshot.
type configStore interface {
	Config(ctx context.Context) (*feed.Config, error)
}

// clickStore counts clicks and gives away the uses of limited links.
type clickStore interface {
	// ApplyStretch returns the mark of the stretch's log, whether or not this call
	// has moved it.
	ApplyStretch(ctx context.Context, s *click.Stretch) (mark uint64, applied bool, err error)
	Use(ctx context.Context, key link.Key) (*feed.Use, error)
}

// Config of the handler. A zero number takes the default that stands beside it.
type Config struct {
	// Secret is what edges send as bearer. Without one every request is refused,
	// unless AllowAnyone says that only this machine can reach the listener.
	Secret      string
	AllowAnyone bool

	Timeout     time.Duration // of one request, waiting for a turn included; 5 s
	MaxRequests int           // at the same time, in all; beyond it 503 at once; 4096
	MaxPages    int           // answers of up to 1 MiB made at the same time; the rest waits; 16
	MaxUses     int           // uses of limited links taken at the same time; the rest waits; 4

	StretchTimeout time.Duration // of one stretch, in place of Timeout; 20 s
	MaxStretches   int           // counted at the same time; up to eight times as many wait, beyond that 503 at once; 2

	Logger  *slog.Logger          // takes faults of this service; required
	Metrics prometheus.Registerer // nil: requests are counted for nobody
}

func (c Config) withDefaults() Config {
	if c.Timeout <= 0 {
		c.Timeout = 5 * time.Second
	}
	if c.MaxRequests <= 0 {
		c.MaxRequests = 4096
	}
	if c.MaxPages <= 0 {
		c.MaxPages = 16
	}
	if c.MaxUses <= 0 {
		c.MaxUses = 4
	}
	if c.StretchTimeout <= 0 {
		c.StretchTimeout = 20 * time.Second
	}
	if c.MaxStretches <= 0 {
		c.MaxStretches = 2
	}
	return c
}

// handler is the state that requests share.
type handler struct {
	cfg    Config
	fills  loader
	edges  prober
	acks   acknowledger
	feeds  feedStore
	config configStore
	clicks clickStore

	applied   func(*click.Stretch)
	pages     chan struct{} // one for each page that is being made
	uses      chan struct{} // one for each use that is being taken
	bodies    chan struct{} // one for each stretch that is here, or on its way
	stretches chan struct{} // one for each stretch that is being counted

	metrics *metrics
	outages *outage.Log
}

// Rooms are what the handler hands requests on to; all are required but Applied.
type Rooms struct {
	Fills  loader
	Probes prober
	Acks   acknowledger
	Feeds  feedStore
	Config configStore
	Clicks clickStore

	// Applied is told of each stretch that was counted, after the commit, and
	// before the edge is. It must not wait; the stretch is its to keep, unmodified.
	Applied func(*click.Stretch)
}

// bodiesPerStretch is how many stretches are held here for each that is counted:
// their bytes, of up to click.MaxStretch.
const bodiesPerStretch = 8

// New makes the handler. It starts no goroutine; limits on slow clients are the
// http.Server's.
func New(cfg Config, rooms Rooms) http.Handler {
	cfg = cfg.withDefaults()
	h := &handler{
		cfg: cfg, fills: rooms.Fills, edges: rooms.Probes, acks: rooms.Acks, feeds: rooms.Feeds, config: rooms.Config,
		clicks: rooms.Clicks, applied: rooms.Applied,

		pages: make(chan struct{}, cfg.MaxPages), uses: make(chan struct{}, cfg.MaxUses),
		bodies: make(chan struct{}, bodiesPerStretch*cfg.MaxStretches), stretches: make(chan struct{}, cfg.MaxStretches),

		metrics: newMetrics(cfg.Metrics), outages: outage.New(cfg.Logger),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/fill", h.route(h.fill))
	mux.HandleFunc("POST /v1/probe", h.route(h.probe))
	mux.HandleFunc("POST /v1/ack", h.route(h.ack))
	mux.HandleFunc("GET /v1/heads", h.route(h.heads))
	mux.HandleFunc("GET /v1/changes", h.route(h.page(h.changes)))
	mux.HandleFunc("GET /v1/codes", h.route(h.page(h.codes)))
	mux.HandleFunc("GET /v1/config", h.route(h.page(h.wholeConfig)))
	mux.HandleFunc("POST /v1/use", h.route(h.use))
	mux.HandleFunc("POST /v1/clicks", h.routeWithin(cfg.StretchTimeout, h.stretch))

	var served http.Handler = mux
	served = h.crowded(served)
	served = h.authorized(served)
	return h.observed(mux, h.recovered(served))
}
