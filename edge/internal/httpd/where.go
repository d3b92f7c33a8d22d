package httpd

import (
	"github.com/valyala/fasthttp"

	"waypost/edge/internal/redirect"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// where is the domain that a request is for, and all that is on the config shard.
type where struct {
	lease    feed.Instant // of the config shard
	settings *feed.Config // nil: not held
	domain   *feed.Domain // nil: the default domain
}

// where finds the domain of a host. What the lease vouches for was held before it
// was stored, so it is in the settings that are loaded after it.
func (h *handler) where(s *scratch, host []byte) where {
	w := where{lease: h.ConfigLease()}
	if w.settings = h.Settings(); w.settings != nil {
		w.domain = w.settings.Domain(link.AppendHost(s.host[:0], host))
	}
	return w
}

// host is that of the domain, "" for the default one.
func (w *where) host() string {
	if w.domain == nil {
		return ""
	}
	return w.domain.Host
}

// set is what is set for the domain.
func (w *where) set() feed.Domain {
	d := w.domain
	if d == nil && w.settings != nil {
		d = w.settings.Domain(nil) // the default one's
	}
	if d == nil {
		return feed.Domain{}
	}
	return *d
}

// open is a URL of the domain, or "" if it leads to a blocked host: then it is as
// if it were not set.
func (w *where) open(url string) string {
	if url == "" || w.settings.Blocks().Blocked(link.TargetHost(url)) {
		return ""
	}
	return url
}

// home answers "/". Where a domain's own page is no more than known, that is told
// as of a link.
func (h *handler) home(ctx *fasthttp.RequestCtx, w *where) {
	if url := w.open(w.set().HomeURL); url != "" {
		at, _ := h.Clock()
		page := &feed.Entry{Body: feed.Body{State: feed.Enabled}}
		if how, age := h.Mark(redirect.Answer{Entry: page, Lease: w.lease}, at); how != redirect.Withheld {
			redirectTo(ctx, []byte(url))
			if how == redirect.Marked {
				markStale(ctx, h.status.aged, age)
			}
			return
		}
	}
	if h.HomeURL != "" {
		redirectTo(ctx, []byte(h.HomeURL))
		return
	}
	text(ctx, fasthttp.StatusOK, "Short links by Waypost.\n")
}

// notFound answers for what does not exist. Whoever is sent to the domain's page
// for that must be sure of it.
func (h *handler) notFound(ctx *fasthttp.RequestCtx, w *where, sure bool) {
	if sure {
		if url := w.open(w.set().NotFoundURL); url != "" {
			redirectTo(ctx, []byte(url))
			return
		}
	}
	plain(ctx, fasthttp.StatusNotFound)
}

// unreadablePath answers for a path that no code can have.
func (h *handler) unreadablePath(ctx *fasthttp.RequestCtx, w *where, err error) {
	if err != link.ErrNotFound { //nolint:errorlint // travels unwrapped here
		h.refused(ctx, err)
		return
	}
	at, _ := h.Clock()
	how, _ := h.Mark(redirect.Answer{Entry: &feed.Entry{}, Lease: w.lease}, at)
	h.notFound(ctx, w, how == redirect.Unmarked)
}
