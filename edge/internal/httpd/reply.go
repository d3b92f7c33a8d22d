package httpd

import (
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"github.com/valyala/fasthttp"

	"waypost/edge/internal/redirect"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// visit is one request for a code and what was found for it.
type visit struct {
	where
	client netip.Addr
	asked  link.Path
	query  []byte
	hash   uint64
	found  redirect.Answer

	bypass bool         // the link is limited: no tier had the answer
	origin bool         // it was asked for a use, and …
	use    feed.Verdict // … this is what became of it
}

// ruling is what a visit gets at one moment.
type ruling struct {
	at      feed.Instant // by the monotonic clock …
	now     int64        // … and by PostgreSQL's, microseconds since 1970
	marking redirect.Marking
	age     time.Duration
	verdict redirect.Verdict

	elsewhere string // where a link leads that has moved by its domain's word; "" for the link's own
}

// leads says whether the visitor is sent on.
func (r *ruling) leads() bool {
	return r.marking != redirect.Withheld && (r.verdict == redirect.Live || r.verdict == redirect.Moved)
}

// rule reads the clock and decides by it.
func (h *handler) rule(v *visit) ruling {
	var r ruling
	told := !v.found.Entry.Timed() || h.Told() // before the clock is read
	r.at, r.now = h.Clock()
	h.judge(v, &r)
	if !told {
		r.marking = redirect.Withheld
	}
	return r
}

// judge decides by the clock in r.
func (h *handler) judge(v *visit, r *ruling) {
	e := v.found.Entry
	r.marking, r.age = h.Mark(v.found, r.at)
	r.verdict = redirect.Judge(e, r.now)
	switch {
	case len(v.asked.Suffix) > 0 && e.Suffix == link.SuffixOff:
		r.verdict = redirect.Unknown // no such path, whatever became of the link
	case r.verdict == redirect.Live && v.origin && v.use == feed.UsedUp:
		r.verdict = redirect.Ended
		if e.ExpiredURL != "" {
			r.verdict = redirect.Moved
		}
	case r.verdict == redirect.Live && v.origin && v.use == feed.UseNone && e.Limited:
		r.marking = redirect.Withheld // not in its time by the origin's clock, or by this one
	}
	v.overrule(e, r)
}

// overrule says what becomes of a link by what is on the config shard: one that
// would lead to a blocked host leads nowhere, and one that has ended without a
// word where to go goes where its domain says.
func (w *where) overrule(e *feed.Entry, r *ruling) {
	if r.verdict == redirect.Unknown || r.verdict == redirect.Gone {
		return
	}
	judged := w.settings.Blocks().Judge(e)
	if judged&feed.TargetBlocked != 0 || r.verdict == redirect.Moved && judged&feed.ExpiredURLBlocked != 0 {
		r.verdict = redirect.Gone
	}
	if r.verdict == redirect.Ended {
		r.verdict = redirect.Gone
		if r.elsewhere = w.open(w.set().ExpiredURL); r.elsewhere != "" {
			r.verdict = redirect.Moved
		}
	}
}

// reply writes what the entry means for this request. A click is recorded
// first. The clock is read after that, as late as can be: what the lease allowed
// when the tiers were asked it may not allow any more.
func (h *handler) reply(ctx *fasthttp.RequestCtx, s *scratch, v *visit) {
	r := h.rule(v)
	if r.verdict == redirect.Live && v.found.Entry.Limited && r.marking != redirect.Withheld {
		if !h.takeUse(ctx, s, v, &r) {
			return
		}
		r = h.rule(v)
	}
	location, err := v.location(s, &r)
	if location != nil && err == nil && h.counted(ctx, v) {
		h.count(ctx, s, v, &r)
		was := r.verdict
		if r = h.rule(v); r.verdict != was { // it has ended meanwhile
			location, err = v.location(s, &r)
		}
		if s.open && (!r.leads() || err != nil) {
			h.cancel(ctx, s)
		}
	}
	if err != nil {
		h.denied(ctx, v, &r, err)
		return
	}
	h.write(ctx, v, &r, location)
	s.open = false
}

// location is where the visitor is sent, in s' memory; nil for nowhere, as a
// preview is.
func (v *visit) location(s *scratch, r *ruling) ([]byte, error) {
	if !r.leads() || v.asked.Preview {
		return nil, nil
	}
	e := v.found.Entry
	switch {
	case r.elsewhere != "":
		return append(s.location[:0], r.elsewhere...), nil
	case r.verdict == redirect.Moved:
		return append(s.location[:0], e.ExpiredURL...), nil
	}
	location, err := link.AppendLocation(s.location[:0], e.Target, e.Query, v.query, e.Suffix, v.asked.Suffix)
	s.location = location[:0]
	return location, err
}

func (h *handler) write(ctx *fasthttp.RequestCtx, v *visit, r *ruling, location []byte) {
	if r.marking == redirect.Withheld {
		setCacheStatus(ctx, h.status.missed)
		if v.bypass {
			setCacheStatus(ctx, h.status.bypass)
		}
		unavailable(ctx)
		return
	}
	switch r.verdict {
	case redirect.Unknown:
		h.orphan(ctx, v, r)
		h.notFound(ctx, &v.where, r.marking == redirect.Unmarked && !v.asked.Preview)
	case redirect.Gone, redirect.Ended:
		plain(ctx, fasthttp.StatusGone)
	case redirect.Moved:
		if v.asked.Preview { // a preview never sends anybody on
			plain(ctx, fasthttp.StatusGone)
			break
		}
		redirectTo(ctx, location)
	case redirect.Live:
		if v.asked.Preview {
			preview(ctx, v.found.Entry)
			break
		}
		redirectLive(ctx, v.found.Entry, location, r.now)
	}
	h.finish(ctx, v, r)
}

// finish says how the answer was found and how old it may be.
func (h *handler) finish(ctx *fasthttp.RequestCtx, v *visit, r *ruling) {
	status, aged := h.status.of(&v.found), h.status.aged
	if v.bypass {
		status, aged = h.status.bypass, h.status.bypassAged
	}
	if r.marking == redirect.Marked {
		markStale(ctx, aged, r.age)
		return
	}
	setCacheStatus(ctx, status)
	h.Served(v.found.Entry, r.at)
}

// denied answers a request that its link's policies have no place for.
func (h *handler) denied(ctx *fasthttp.RequestCtx, v *visit, r *ruling, err error) {
	if err == link.ErrNotFound { //nolint:errorlint // travels unwrapped here
		h.notFound(ctx, &v.where, r.marking == redirect.Unmarked)
	} else {
		h.refused(ctx, err)
	}
	h.finish(ctx, v, r)
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
