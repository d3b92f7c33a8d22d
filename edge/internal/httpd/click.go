package httpd

import (
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"

	"github.com/valyala/fasthttp"

	"waypost/edge/internal/redirect"
	"waypost/edge/internal/visitor"
	"waypost/shared/click"
	"waypost/shared/feed"
)

// counter keeps clicks. Its methods neither fail nor wait longer than a stated
// bound, and keep nothing that they are given.
type counter interface {
	Count(r *click.Record) (ticket uint64)
	// Cancel takes a click back that was not answered with a redirect after all.
	Cancel(ticket uint64, r *click.Record)
	// Orphan counts a request for a code that leads nowhere, at a time in
	// microseconds since 1970.
	Orphan(at int64)
}

// counted says whether a request that is sent on is a click: HEAD never is, nor
// is anything where the link's owner, or this edge's, wants no counts.
func (h *handler) counted(ctx *fasthttp.RequestCtx, v *visit) bool {
	return h.Clicks != nil && ctx.IsGet() && v.found.Entry.Clicks
}

// count records a click, before it is answered. From here on s has it open, until
// it is answered or canceled.
func (h *handler) count(ctx *fasthttp.RequestCtx, s *scratch, v *visit, r *ruling) {
	h.describe(ctx, s, v.client, r.now)
	h.optional(ctx, func() { h.record(s, v, r) })
}

// record records the click in s, of which At and the visitor are known.
func (h *handler) record(s *scratch, v *visit, r *ruling) {
	e, c := v.found.Entry, &s.click
	c.Link, c.Shard, c.Version, c.Status = e.LinkID, uint8(feed.Shard(v.hash)), e.Version, e.Status //nolint:gosec // below feed.Shards
	if r.verdict == redirect.Moved {
		c.Status = fasthttp.StatusFound
	}
	s.ticket, s.open = h.Clicks.Count(c), true
}

// cancel takes back the click that s has open.
func (h *handler) cancel(ctx *fasthttp.RequestCtx, s *scratch) {
	s.open = false
	h.optional(ctx, func() { h.Clicks.Cancel(s.ticket, &s.click) })
}

// orphan counts a code that leads nowhere, unless it is a link's whose owner
// wants no counts.
func (h *handler) orphan(ctx *fasthttp.RequestCtx, v *visit, r *ruling) {
	e := v.found.Entry
	if h.Clicks == nil || !ctx.IsGet() || v.asked.Preview || e.State != feed.Absent && !e.Clicks {
		return
	}
	h.optional(ctx, func() { h.Clicks.Orphan(r.now) })
}

// describe fills s.click with what the request says of its visitor.
func (h *handler) describe(ctx *fasthttp.RequestCtx, s *scratch, client netip.Addr, now int64) {
	s.click = click.Record{At: now}
	s.visitor = visitor.Request{Client: client}
	h.optional(ctx, func() {
		h.listen(ctx, &s.visitor)
		h.Describe(&s.visitor, &s.click)
	})
}

// listen takes the header lines that describe a visitor; of several of one name
// the first. One pass over them all costs less than to search for each.
func (h *handler) listen(ctx *fasthttp.RequestCtx, from *visitor.Request) {
	h.listenTo(&ctx.Request.Header, from)
	if h.CountryHeader == "" {
		return
	}
	if peer, ok := ctx.RemoteAddr().(*net.TCPAddr); ok {
		from.Peer = peer.AddrPort().Addr()
	}
}

// listenTo takes what lines there are.
func (h *handler) listenTo(header *fasthttp.RequestHeader, from *visitor.Request) {
	for name, value := range header.All() {
		switch string(name) {
		case fasthttp.HeaderUserAgent:
			take(&from.Agent, value)
		case fasthttp.HeaderReferer:
			take(&from.Referrer, value)
		case fasthttp.HeaderAcceptLanguage:
			take(&from.Language, value)
		case "Sec-Purpose", "Purpose", "X-Moz":
			take(&from.Purpose, value)
		}
	}
	if h.CountryHeader != "" {
		from.Country = header.Peek(h.CountryHeader)
	}
}

func take(into *[]byte, value []byte) {
	if len(*into) == 0 {
		*into = value
	}
}

// optional does what no answer may depend on. A panic in it is one log line; ctx
// may be nil.
func (h *handler) optional(ctx *fasthttp.RequestCtx, do func()) {
	defer func() {
		if p := recover(); p != nil {
			h.Metrics.faults.Inc()
			h.Logger.Error("counting a click panicked; its visitor was answered",
				slog.Any("panic", p), slog.String("request_id", requestID(ctx)), slog.String("stack", string(debug.Stack())))
		}
	}()
	do()
}
