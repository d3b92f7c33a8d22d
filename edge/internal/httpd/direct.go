package httpd

import (
	"bytes"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/valyala/fasthttp"

	"waypost/edge/internal/redirect"
	"waypost/shared/click"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// direct answers the hits that b begins with, each at once, and returns their
// heads' bytes. A redirect from L1 has no need of fasthttp, which takes as long
// over a request as all that is done for it here. The answer is the same, byte for
// byte; where there is any doubt there is none, and the request goes the way
// through fasthttp. So does one whose answer panics.
//
// A head is answered here only if all before it were plain, too: what follows one
// that was not may be its body, and is no head to anybody but fasthttp. plain is
// false then, until resume. The first one is fasthttp's in any case: to it a
// connection is idle, and may be closed when the server stops, from its first
// answer on.
func (h *handler) direct(c *headConn, b []byte) (done int, plain bool) {
	c.admission = admission{}       // of a head before these, if its request never asked for it
	s := h.scratch.Get().(*scratch) //nolint:forcetypeassert // the pool holds nothing else
	defer func() {
		if p := recover(); p != nil {
			h.Logger.Error("answering a hit panicked; it is tried again",
				slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			h.takeBack(s)
			plain = false
		}
		h.scratch.Put(s)
	}()
	for done < len(b) && c.broken == nil {
		if h.draining() {
			return done, false // fasthttp ends the connection with its answer
		}
		if !s.head.parse(b[done:], h.CountryHeader) {
			return done, false
		}
		if !c.asked || !h.hit(c, s) {
			return done, true
		}
		done += s.head.size
	}
	return done, true
}

// resume lets a connection's next heads be answered directly again, after a
// request that fasthttp has read to its end: one that is plain in itself, but came
// in parts or behind something that was not.
func (h *handler) resume(ctx *fasthttp.RequestCtx) {
	c, ok := ctx.Conn().(*headConn)
	if !ok || c.handler != nil || h.Held == nil {
		return
	}
	header := &ctx.Request.Header
	var read head
	if header.IsGet() && header.IsHTTP11() && read.fields(header.RawHeaders(), "") {
		c.handler = h
	}
}

// hit answers the head in s if L1 has what it asks for.
func (h *handler) hit(c *headConn, s *scratch) (answered bool) {
	var r ruling
	r.at, r.now = h.Clock()
	start := r.at
	v := visit{client: h.Client(c.peer, s.head.lines[:s.head.forwarded])}
	if !h.ask(c, v.client) {
		return false
	}
	if !h.held(s, &v) {
		return false
	}
	// This ruling only saves clicks that would be taken back: the one that counts is
	// made when the click is recorded, as in reply.
	e := v.found.Entry
	h.judge(&v, &r)
	if !r.hit(e) || e.Timed() && !h.Told() {
		return false
	}
	location, err := v.location(s, &r)
	if err != nil || location == nil || controls(location) > 0 {
		return false
	}
	if h.Clicks != nil && e.Clicks {
		s.head.visitor.Client, s.head.visitor.Peer = v.client, c.peer
		s.click = click.Record{At: r.now}
		h.Describe(&s.head.visitor, &s.click)
		h.record(s, &v, &r)
	}
	if r = h.rule(&v); !r.hit(e) {
		h.takeBack(s)
		return false
	}
	h.Served(e, r.at)
	s.answer = h.appendHit(s.answer[:0], e, location, &r)
	h.Metrics.answered(tierL1, int(e.Status), time.Duration(r.at-start))
	s.open, c.admission = false, admission{}
	c.send(s.answer, r.at)
	return true
}

// hit says whether a ruling is the plain one: the visitor is sent to the target of
// a link that is not limited, and nothing is said of the answer's age.
func (r *ruling) hit(e *feed.Entry) bool {
	return r.marking == redirect.Unmarked && r.verdict == redirect.Live && !e.Limited
}

// held looks for the link of the head in s in L1, as answer does in all tiers.
func (h *handler) held(s *scratch, v *visit) bool {
	path, query, _ := bytes.Cut(s.head.target, []byte{'?'})
	if len(path) > maxPath || len(query) > maxQuery || isFixed(path) {
		return false
	}
	v.where = h.where(s, s.head.host)
	var err error
	if v.asked, err = link.ParsePath(path, s.path[:]); err != nil || v.asked.Preview {
		return false
	}
	domain := v.host()
	v.query, v.hash = query, hash(s, domain, v.asked.Code)
	var ok bool
	if v.found, ok = h.Held(domain, v.asked.Code, v.hash); !ok {
		return false
	}
	v.found.Lease = min(v.found.Lease, v.lease)
	return statusLine(v.found.Entry.Status) != ""
}

// takeBack takes back the click that s has open, if there is one.
func (h *handler) takeBack(s *scratch) {
	if s.open {
		h.cancel(nil, s)
	}
}

// appendHit appends the whole answer as fasthttp would write it.
func (h *handler) appendHit(dst []byte, e *feed.Entry, location []byte, r *ruling) []byte {
	dst = append(dst, statusLine(e.Status)...)
	dst = append(dst, h.dates.at(r.at)...)
	dst = append(dst, "\r\nContent-Length: 0\r\nLocation: "...)
	dst = append(dst, location...)
	dst = append(dst, "\r\nCache-Control: "...)
	dst = append(dst, cacheControl(e, r.now)...)
	dst = append(dst, "\r\nCache-Status: "...)
	dst = append(dst, h.status.l1...)
	return append(dst, "\r\n\r\n"...)
}

// statusLine is that of an answer, up to its Date; "" for a status that is no
// link's.
func statusLine(status uint16) string {
	switch status {
	case fasthttp.StatusMovedPermanently:
		return "HTTP/1.1 301 Moved Permanently\r\nDate: "
	case fasthttp.StatusFound:
		return "HTTP/1.1 302 Found\r\nDate: "
	case fasthttp.StatusTemporaryRedirect:
		return "HTTP/1.1 307 Temporary Redirect\r\nDate: "
	case fasthttp.StatusPermanentRedirect:
		return "HTTP/1.1 308 Permanent Redirect\r\nDate: "
	}
	return ""
}
