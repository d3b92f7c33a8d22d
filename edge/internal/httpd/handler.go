package httpd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"waypost/edge/internal/redirect"
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
	// Mark decides, right before an answer goes out, how it may.
	Mark func(a redirect.Answer, at feed.Instant) (redirect.Marking, time.Duration)
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
	// Client is the visitor's address, by the trusted proxies in between. The
	// header lines may not be kept.
	Client func(peer netip.Addr, forwardedFor [][]byte) netip.Addr
	// Admit takes a token from a client; if there is none, one will be there in
	// retryAfter seconds.
	Admit       func(ctx context.Context, client netip.Addr) (retryAfter int, ok bool)
	LimitPolicy string // the RateLimit-Policy header of a limited answer
	MaxConns    int    // connections at once; each may hold some 40 KiB
	Metrics     *Metrics
	Logger      *slog.Logger
}

// handler answers requests. It is safe for concurrent use.
type handler struct {
	Config
	//nolint:containedctx // fasthttp hands no context down that outlives the handler; this one ends with the process
	base     context.Context
	draining func() bool
	status   cacheStatus
	scratch  sync.Pool // *scratch
}

// scratch is the memory that one request needs beside fasthttp's own.
type scratch struct {
	path     [maxPath]byte
	host     [256]byte
	key      [512]byte
	location []byte
}

func newHandler(cfg Config, base context.Context, draining func() bool) *handler { //nolint:revive // base is kept, not used here
	return &handler{
		Config:   cfg,
		base:     base,
		draining: draining,
		status:   newCacheStatus(cfg.Region),
		scratch:  sync.Pool{New: func() any { return &scratch{location: make([]byte, 0, 1<<10)} }},
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
}

// answer takes a request all the way: limit, method, path, domain, tiers,
// verdict. It says which tier the answer came from.
func (h *handler) answer(ctx *fasthttp.RequestCtx) tier {
	if retryAfter, ok := h.Admit(h.base, h.client(ctx)); !ok {
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
	case h.fixed(ctx, path):
		return tierNone
	}

	s := h.scratch.Get().(*scratch) //nolint:forcetypeassert // the pool holds nothing else
	defer h.scratch.Put(s)
	asked, err := link.ParsePath(path, s.path[:])
	if err != nil {
		h.refused(ctx, err)
		return tierNone
	}
	// What the lease vouches for was held before it was stored, so it is in the
	// settings that are loaded after it.
	lease := h.ConfigLease()
	domain := ""
	if settings := h.Settings(); settings != nil {
		if d, ok := settings.Domain(link.AppendHost(s.host[:0], host)); ok {
			domain = d.Host
		}
	}
	found, err := h.Resolve(h.base, domain, asked.Code, hash(s, domain, asked.Code))
	if err != nil {
		setCacheStatus(ctx, h.status.missed)
		h.refused(ctx, err)
		return tierNone
	}
	found.Lease = min(found.Lease, lease)
	h.reply(ctx, s, &found, &asked, query)
	return tierOf(found.Tier)
}

// reply writes what the entry means for this request at this moment. The clock
// is read here, once, as late as can be: what the lease allowed when the tiers
// were asked it may not allow any more.
func (h *handler) reply(ctx *fasthttp.RequestCtx, s *scratch, found *redirect.Answer, asked *link.Path, query []byte) {
	at, now := h.Clock()
	how, age := h.Mark(*found, at)
	if how == redirect.Withheld {
		setCacheStatus(ctx, h.status.missed)
		unavailable(ctx)
		return
	}
	e := found.Entry
	verdict := redirect.Judge(e, now)
	if len(asked.Suffix) > 0 && e.Suffix == link.SuffixOff {
		verdict = redirect.Unknown // no such path, whatever became of the link
	}
	switch verdict {
	case redirect.Unknown:
		plain(ctx, fasthttp.StatusNotFound)
	case redirect.Gone:
		plain(ctx, fasthttp.StatusGone)
	case redirect.Moved:
		if asked.Preview { // a preview never sends anybody on
			plain(ctx, fasthttp.StatusGone)
			break
		}
		redirectTo(ctx, fasthttp.StatusFound, e.ExpiredURL)
	case redirect.Live:
		h.live(ctx, s, e, asked, query, now)
	}
	if how == redirect.Marked {
		h.markStale(ctx, age)
		return
	}
	setCacheStatus(ctx, h.status.of(found))
	h.Served(e, at)
}

// live answers for a link that leads somewhere now.
func (h *handler) live(ctx *fasthttp.RequestCtx, s *scratch, e *feed.Entry, asked *link.Path, query []byte, now int64) {
	if asked.Preview {
		preview(ctx, e)
		return
	}
	location, err := link.AppendLocation(s.location[:0], e.Target, e.Query, query, e.Suffix, asked.Suffix)
	s.location = location[:0]
	if err != nil {
		h.refused(ctx, err)
		return
	}
	redirectLive(ctx, e, location, now)
}

// refused maps an error of the path or the tiers to its answer.
func (h *handler) refused(ctx *fasthttp.RequestCtx, err error) {
	switch {
	case err == link.ErrNotFound: //nolint:errorlint // travels unwrapped here
		plain(ctx, fasthttp.StatusNotFound)
	case err == link.ErrMalformedPath, err == link.ErrMalformedQuery: //nolint:errorlint // travel unwrapped here
		plain(ctx, fasthttp.StatusBadRequest)
	case errors.Is(err, link.ErrUnavailable), errors.Is(err, redirect.ErrUnready):
		unavailable(ctx)
	default:
		h.Logger.Error("answering a request", slog.Any("error", err), slog.String("request_id", requestID(ctx)))
		plain(ctx, fasthttp.StatusInternalServerError)
	}
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

func requestID(ctx *fasthttp.RequestCtx) string {
	return ops.RequestID(string(ctx.Request.Header.Peek("X-Request-Id")))
}

// hash is link.Key.Hash without making the key.
func hash(s *scratch, domain string, code []byte) uint64 {
	key := append(s.key[:0], domain...)
	key = append(key, 0)
	return link.HashBytes(append(key, code...))
}
