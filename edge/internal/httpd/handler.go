package httpd

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"waypost/edge/internal/redirect"
	"waypost/edge/internal/visitor"
	"waypost/shared/click"
	"waypost/shared/feed"
	"waypost/shared/link"
	"waypost/shared/ops"
)

const (
	maxPath  = 2 << 10
	maxQuery = 16 << 10
)

// Config is what a Server answers by. Its functions are called from many
// goroutines at once.
type Config struct {
	Region  string // names this cache in Cache-Status: letters, digits, "-"
	HomeURL string // where "/" redirects to; "" for a line of text
	// Resolve finds a key's entry, bounded in time by itself.
	Resolve func(ctx context.Context, domain string, code []byte, hash uint64) (redirect.Answer, error)
	// Held is Resolve for an entry in L1 that may be served; false for all others.
	// nil: there is no shorter way for those.
	Held func(domain string, code []byte, hash uint64) (redirect.Answer, bool)
	// Mark decides, right before an answer goes out, how it may.
	Mark func(a redirect.Answer, at feed.Instant) (redirect.Marking, time.Duration)
	// Use asks the origin for one use of a limited link, bounded in time by itself.
	Use func(ctx context.Context, key link.Key, hash uint64) (feed.Verdict, redirect.Answer, error)
	// Served is told of every answer that went out unmarked.
	Served func(e *feed.Entry, at feed.Instant)
	// ConfigLease is the lease of the config shard; it is loaded before Settings.
	ConfigLease func() feed.Instant
	// Settings is the config shard as it is held; nil while it is not: then there
	// is only the default domain.
	Settings func() *feed.Config
	// Clock reads this machine's monotonic clock and, derived from it,
	// PostgreSQL's in microseconds since 1970.
	Clock func() (at feed.Instant, now int64)
	// Told says whether Clock's second half is PostgreSQL's: until it is, a link
	// that begins or ends at some time is withheld.
	Told func() bool
	// Client is the visitor's address, by the trusted proxies in between. The
	// header lines may not be kept.
	Client func(peer netip.Addr, forwardedFor [][]byte) netip.Addr
	// Admit takes a token from a client; if there is none, one will be there in
	// retryAfter seconds.
	Admit func(ctx context.Context, client netip.Addr) (retryAfter int, ok bool)
	// Describe fills in what a click says of its visitor; r.At is set. It keeps
	// neither.
	Describe      func(from *visitor.Request, r *click.Record)
	CountryHeader string  // in which a proxy says the visitor's country; "" for none
	Clicks        counter // nil: no click is counted
	LimitPolicy   string  // the RateLimit-Policy header of a limited answer
	MaxConns      int     // connections at once; each may hold some 40 KiB
	Metrics       *Metrics
	Logger        *slog.Logger
}

// handler answers requests. It is safe for concurrent use.
type handler struct {
	Config
	//nolint:containedctx // fasthttp hands no context down that outlives the handler; this one ends with the process
	base     context.Context
	draining func() bool
	status   cacheStatus
	dates    dates
	scratch  sync.Pool // *scratch
}

// scratch is the memory that one request needs beside fasthttp's own.
type scratch struct {
	path     [maxPath]byte
	host     [256]byte
	key      [512]byte
	location []byte
	answer   []byte
	head     head
	visitor  visitor.Request
	click    click.Record
	ticket   uint64 // of the click
	open     bool   // the click is recorded and its answer is not made yet
}

func newHandler(cfg Config, base context.Context, draining func() bool) *handler { //nolint:revive // base is kept, not used here
	return &handler{
		Config:   cfg,
		base:     base,
		draining: draining,
		status:   newCacheStatus(cfg.Region),
		scratch:  sync.Pool{New: func() any { return &scratch{location: make([]byte, 0, 1<<10), answer: make([]byte, 0, 1<<10)} }},
	}
}

// serve answers one request. fasthttp recovers no panic, so this does: that
// request gets a 500 and one log line, the process lives.
func (h *handler) serve(ctx *fasthttp.RequestCtx) {
	start := time.Now()
	from := tierNone
	defer func() {
		if p := recover(); p != nil {
			h.panicked(ctx, p)
		}
		if h.draining() {
			ctx.SetConnectionClose()
		}
		if ctx.IsHead() && len(ctx.Response.Body()) == 0 && ctx.Response.StatusCode() != fasthttp.StatusNoContent {
			ctx.Response.Header.SetContentLength(0) // as GET has it; fasthttp leaves it out here
		}
		h.Metrics.answered(from, ctx.Response.StatusCode(), time.Since(start))
	}()
	from = h.answer(ctx)
	h.resume(ctx)
}

// answer takes a request all the way: limit, method, path, domain, tiers,
// verdict. It says which tier the answer came from.
func (h *handler) answer(ctx *fasthttp.RequestCtx) tier {
	client := h.client(ctx)
	if retryAfter, ok := h.admit(ctx, client); !ok {
		h.limited(ctx, retryAfter)
		return tierNone
	}
	if !ctx.IsGet() && !ctx.IsHead() {
		notAllowed(ctx)
		return tierNone
	}
	host, path, query := target(&ctx.Request.Header)
	switch {
	case len(path) > maxPath:
		plain(ctx, fasthttp.StatusRequestURITooLong)
		return tierNone
	case len(query) > maxQuery:
		plain(ctx, fasthttp.StatusRequestHeaderFieldsTooLarge)
		return tierNone
	}

	s := h.scratch.Get().(*scratch) //nolint:forcetypeassert // the pool holds nothing else
	defer h.release(ctx, s)
	w := h.where(s, host)
	if h.fixed(ctx, path, &w) {
		return tierNone
	}
	asked, err := link.ParsePath(path, s.path[:])
	if err != nil {
		h.unreadablePath(ctx, &w, err)
		return tierNone
	}
	domain := w.host()
	v := visit{where: w, client: client, asked: asked, query: query, hash: hash(s, domain, asked.Code)}
	if v.found, err = h.Resolve(h.base, domain, asked.Code, v.hash); err != nil {
		setCacheStatus(ctx, h.status.missed)
		h.refused(ctx, err)
		return tierNone
	}
	v.found.Lease = min(v.found.Lease, w.lease)
	h.reply(ctx, s, &v)
	return tierOf(v.found.Tier)
}

// release gives the memory of a request back. A click whose answer was never made
// is taken back first: a panic came between, and its visitor gets a 500.
func (h *handler) release(ctx *fasthttp.RequestCtx, s *scratch) {
	if s.open {
		h.cancel(ctx, s)
	}
	h.scratch.Put(s)
}

// client is the visitor's address; the zero Addr where the connection has none.
func (h *handler) client(ctx *fasthttp.RequestCtx) netip.Addr {
	peer, ok := ctx.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return h.Client(peer.AddrPort().Addr(), ctx.Request.Header.PeekAll(fasthttp.HeaderXForwardedFor))
}

func (h *handler) panicked(ctx *fasthttp.RequestCtx, p any) {
	id := requestID(ctx)
	h.Logger.Error("a request's handler panicked",
		slog.Any("panic", p), slog.String("request_id", id), slog.String("stack", string(debug.Stack())))
	ctx.Response.Reset()
	ctx.Response.Header.Set("X-Request-Id", id)
	plain(ctx, fasthttp.StatusInternalServerError)
}

// requestID is the request's own, or a new one; ctx may be nil.
func requestID(ctx *fasthttp.RequestCtx) string {
	if ctx == nil {
		return ops.RequestID("")
	}
	return ops.RequestID(string(ctx.Request.Header.Peek("X-Request-Id")))
}

// hash is link.Key.Hash without making the key.
func hash(s *scratch, domain string, code []byte) uint64 {
	key := append(s.key[:0], domain...)
	key = append(key, 0)
	return link.HashBytes(append(key, code...))
}
