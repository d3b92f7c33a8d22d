package httpd

import (
	"net/netip"

	"github.com/valyala/fasthttp"
)

// admission is what the limiter said of the request whose head was read last. It
// is asked once a request, whichever way that goes.
type admission struct {
	asked      bool
	ok         bool
	retryAfter int // in seconds
}

// ask asks the limiter for a connection's head.
func (h *handler) ask(c *headConn, client netip.Addr) bool {
	retryAfter, ok := h.Admit(h.base, client)
	c.admission = admission{asked: true, ok: ok, retryAfter: retryAfter}
	return ok
}

// admit is Config.Admit for a request that fasthttp has read.
func (h *handler) admit(ctx *fasthttp.RequestCtx, client netip.Addr) (retryAfter int, ok bool) {
	if c, is := ctx.Conn().(*headConn); is && c.admission.asked {
		told := c.admission
		c.admission = admission{}
		return told.retryAfter, told.ok
	}
	return h.Admit(h.base, client)
}
