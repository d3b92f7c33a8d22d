package api

import (
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"waypost/origin/internal/clicks"
	"waypost/origin/internal/links"
	"waypost/origin/internal/outage"
	"waypost/origin/internal/web"
)

// Config is what an API is made of. All is required but Limiter, Proxies and
// Origins.
type Config struct {
	Links   *links.Service
	Keys    *links.Keys
	Clicks  *clicks.Service
	Views   *clicks.Views
	Limiter limiter         // of creations; nil: there is no limit
	Creates links.Allowance // of keys that have none of their own
	Logger  *slog.Logger
	Metrics prometheus.Registerer
	Public  *url.URL       // under which visitors reach links of the default domain
	Proxies []netip.Prefix // whose X-Forwarded-For is believed
	Origins []string       // whose pages may call the API from a browser: as CheckOrigin has them, or AnyOrigin
	Version string         // of the document
	Now     func() time.Time
}

// The bounds of an API.
const (
	maxInFlight      = 1024             // requests at the same time; while an edge is silent most of them wait for it
	requestTimeout   = 30 * time.Second // of one request, its body included
	throttleRate     = 10               // calls without a valid key, per second and address
	throttleBurst    = 50
	throttleMaxTable = 8192 // addresses, of some 150 bytes each
	preflightRate    = 100  // OPTIONS requests, per second and address
	preflightBurst   = 1000
	maxProven        = 4096 // keys, of some 100 bytes each
	maxBulks         = 4    // bulk requests at the same time, of some 40 MiB each while they are read
	maxRollbacks     = 4    // rollbacks at the same time, each of which may read tens of MiB of history
)

// API is the handler of the public listener. It is safe for concurrent use.
type API struct {
	links      *links.Service
	keys       *links.Keys
	clicks     *clicks.Service
	views      *clicks.Views
	logger     *slog.Logger
	public     *url.URL
	proxies    []netip.Prefix
	limiter    limiter // may be nil
	allowance  links.Allowance
	cors       cors
	gzips      gzips
	throttle   *throttle // of calls without a valid key
	preflights *throttle // of OPTIONS, which needs none
	proven     *proven
	metrics    *metrics
	outages    *outage.Log
	slots      chan struct{} // one for each request in flight
	drawings   turns         // one for each QR code that is being drawn
	rollbacks  turns         // one for each rollback
	mux        *http.ServeMux
	huma       huma.API
}

// New returns an API with all its routes and registers its metrics.
func New(c Config) (*API, error) {
	mux := http.NewServeMux()
	a := &API{
		links: c.Links, keys: c.Keys, clicks: c.Clicks, views: c.Views, logger: c.Logger,
		public: c.Public, proxies: c.Proxies,
		limiter: c.Limiter, allowance: c.Creates, cors: newCORS(c.Origins), gzips: newGzips(),
		throttle:   newThrottle(throttleRate, throttleBurst, throttleMaxTable, c.Now),
		preflights: newThrottle(preflightRate, preflightBurst, throttleMaxTable, c.Now),
		proven:     newProven(maxProven, c.Now),
		metrics:    newMetrics(c.Metrics),
		outages:    outage.New(c.Logger),
		slots:      make(chan struct{}, maxInFlight),
		drawings:   make(turns, maxDrawings),
		rollbacks:  make(turns, maxRollbacks),
		mux:        mux,
		huma:       newHuma(mux, c.Version),
	}
	a.operations()
	document, err := a.render()
	if err != nil {
		return nil, err
	}
	docs, err := web.New(document)
	if err != nil {
		return nil, err
	}
	a.pages(document, docs)
	return a, nil
}
