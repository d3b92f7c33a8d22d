package links

import (
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// rules is what an input is held against besides the input itself.
type rules struct {
	caller  Caller
	targets targets
	domain  *feed.Domain // whose defaults the link gets; nil: those of all
	fresh   bool         // a new link: fields left out get their defaults
}

// apply writes the input's fields into l, which for a new link is empty but for
// its key, and returns every fault. now is the time that a TTL counts from. It
// depends on nothing else, so it may be repeated under the store's lock.
func (in *Input) apply(l *link.Link, r rules, now time.Time) faults {
	var f faults
	def := defaultsOf(r.domain)
	in.applyTarget(&f, l, r)
	take(&f, r, "status", in.Status, def.Status, parseStatus, &l.Status)
	take(&f, r, "enabled", in.Enabled, true, asGiven[bool], &l.Enabled)
	take(&f, r, "owner", in.Owner, r.caller.Owner, parseOwner, &l.Owner)
	take(&f, r, "title", in.Title, "", parseTitle, &l.Title)
	take(&f, r, "tags", in.Tags, nil, parseTags, &l.Tags)
	take(&f, r, "query", in.Query, def.Query, parseQuery, &l.Query)
	take(&f, r, "suffix", in.Suffix, def.Suffix, parseSuffix, &l.Suffix)
	take(&f, r, "class", in.Class, def.Class, parseClass, &l.Class)
	take(&f, r, "clicks", in.Clicks, def.Clicks, parseClicks, &l.Clicks)
	take(&f, r, "starts_at", in.StartsAt, time.Time{}, parseInstant, &l.StartsAt)
	take(&f, r, "expires_at", in.ExpiresAt, time.Time{}, parseInstant, &l.ExpiresAt)
	take(&f, r, "max_clicks", in.MaxClicks, 0, parseMaxClicks, &l.MaxClicks)
	take(&f, r, "expired_url", in.ExpiredURL, "", r.parseTarget, &l.ExpiredURL)
	in.applyTTL(&f, l, now)
	return f
}

// take writes one field to its place: its default for null, what parse makes of
// a value, and nothing if it is left out of a change.
func take[T, U any](f *faults, r rules, field string, in Field[T], def U, parse func(T) (U, error), to *U) {
	switch {
	case in.given():
		v, err := parse(*in.Value)
		if err != nil {
			f.add(field, err.Error())
			return
		}
		*to = v
	case in.Set, r.fresh:
		*to = def
	}
}

// applyTarget is take for the one field that has no default.
func (in *Input) applyTarget(f *faults, l *link.Link, r rules) {
	switch {
	case in.Target.given():
		stored, err := r.parseTarget(*in.Target.Value)
		if err != nil {
			f.add("target", err.Error())
			return
		}
		l.Target = stored
	case in.Target.Set, r.fresh:
		f.add("target", "is required")
	}
}

// parseTarget returns the stored form of a URL that a link, or a domain, leads to.
func (r rules) parseTarget(raw string) (string, error) { return r.targets.parse(raw) }

// applyTTL turns a time to live into an expiry. A null is as if left out: what
// it would clear is named expires_at.
func (in *Input) applyTTL(f *faults, l *link.Link, now time.Time) {
	switch {
	case !in.TTL.given():
	case in.ExpiresAt.given():
		f.add("ttl_seconds", "must not be given together with expires_at")
	case *in.TTL.Value < 1 || *in.TTL.Value > maxTTL:
		f.add("ttl_seconds", "must be from 1 to 3155760000 (100 years)")
	default:
		l.ExpiresAt = now.UTC().Add(time.Duration(*in.TTL.Value) * time.Second).Truncate(time.Microsecond)
	}
}

// checkOrder refuses a link that would end before it starts or, if it is new,
// has ended already. For a change an expiry in the past is how a link is ended
// now, whatever its start; and an order that the change does not touch is none
// of its faults.
func (in *Input) checkOrder(f *faults, l *link.Link, fresh bool, now time.Time) {
	if l.ExpiresAt.IsZero() {
		return
	}
	field := "expires_at"
	if in.TTL.given() {
		field = "ttl_seconds"
	}
	live := l.ExpiresAt.After(now)
	ordered := l.StartsAt.IsZero() || l.ExpiresAt.After(l.StartsAt)
	moved := in.ExpiresAt.given() || in.TTL.given()
	switch {
	case fresh && !live:
		f.add(field, "must not be in the past")
	case ordered, !live:
	case fresh, moved:
		f.add(field, "must be after starts_at")
	case in.StartsAt.given():
		f.add("starts_at", "must be before expires_at")
	}
}
