package httpd

import (
	"github.com/valyala/fasthttp"

	"waypost/shared/link"
)

// takeUse asks the origin for one use of a limited link. Only a visitor takes
// one: who does not look (HEAD, a preview, a prefetch) or is nobody (a crawler)
// gets a page without the target. False when the request is answered, true when
// v has the origin's answer.
func (h *handler) takeUse(ctx *fasthttp.RequestCtx, s *scratch, v *visit, r *ruling) bool {
	v.bypass = true
	e := v.found.Entry
	h.describe(ctx, s, v.client, r.now)
	if v.asked.Preview || ctx.IsHead() || s.click.Bot {
		preview(ctx, e)
		h.finish(ctx, v, r)
		return false
	}
	// What will be refused takes no use.
	const anywhere = "https://example.com/"
	if _, err := link.AppendLocation(s.location[:0], anywhere, e.Query, v.query, e.Suffix, v.asked.Suffix); err != nil {
		h.denied(ctx, v, r, err)
		return false
	}
	use, found, err := h.Use(h.base, link.Key{Domain: v.host(), Code: string(v.asked.Code)}, v.hash)
	if err != nil {
		setCacheStatus(ctx, h.status.bypass)
		h.refused(ctx, err)
		return false
	}
	found.Lease = min(found.Lease, v.lease)
	v.origin, v.use, v.found = true, use, found
	return true
}
