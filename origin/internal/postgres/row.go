package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// linkColumns are the columns of a link, of the table named l, in the order of
// linkRow.dest.
const linkColumns = `l.link_id, l.domain, l.code, l.version, l.target, l.status, l.enabled, l.owner, l.title, l.tags,
	l.query, l.suffix, l.class, l.clicks, l.starts_at, l.expires_at, l.expired_url, l.max_clicks,
	l.created_at, l.updated_at, l.deleted_at`

// linkRow takes one row of linkColumns; every column may be null, as in an
// outer join that found none.
type linkRow struct {
	id, version, maxClicks                     pgtype.Int8
	domain, code, target, owner, title         pgtype.Text
	query, suffix, class, expiredURL           pgtype.Text
	status                                     pgtype.Int2
	enabled, clicks                            pgtype.Bool
	tags                                       []string
	starts, expires, created, updated, deleted pgtype.Timestamptz
}

func (r *linkRow) dest() []any {
	return []any{
		&r.id, &r.domain, &r.code, &r.version, &r.target, &r.status, &r.enabled, &r.owner, &r.title, &r.tags,
		&r.query, &r.suffix, &r.class, &r.clicks, &r.starts, &r.expires, &r.expiredURL, &r.maxClicks,
		&r.created, &r.updated, &r.deleted,
	}
}

// entryColumns are those of linkColumns that an entry is made of, in the order
// of linkRow.entryDest.
const entryColumns = `l.link_id, l.version, l.target, l.status, l.enabled, l.query, l.suffix, l.class, l.clicks,
	l.starts_at, l.expires_at, l.expired_url, l.max_clicks, l.created_at, l.deleted_at`

func (r *linkRow) entryDest() []any {
	return []any{
		&r.id, &r.version, &r.target, &r.status, &r.enabled, &r.query, &r.suffix, &r.class, &r.clicks,
		&r.starts, &r.expires, &r.expiredURL, &r.maxClicks, &r.created, &r.deleted,
	}
}

func (r *linkRow) found() bool { return r.id.Valid }

// link makes a link of the row. The names of its policies come from the
// schema's own lists, which are those of package link.
func (r *linkRow) link(epoch uint64) link.Link {
	query, _ := link.ParseQuery(r.query.String)
	suffix, _ := link.ParseSuffix(r.suffix.String)
	class, _ := link.ParseClass(r.class.String)
	return link.Link{
		ID: r.id.Int64, Key: link.Key{Domain: r.domain.String, Code: r.code.String},
		Target: r.target.String, Status: int(r.status.Int16), Enabled: r.enabled.Bool,
		Owner: r.owner.String, Title: r.title.String, Tags: r.tags,
		Query: query, Suffix: suffix, Class: class, Clicks: r.clicks.Bool,
		StartsAt: utc(r.starts), ExpiresAt: utc(r.expires),
		ExpiredURL: r.expiredURL.String, MaxClicks: r.maxClicks.Int64,
		CreatedAt: utc(r.created), UpdatedAt: utc(r.updated), DeletedAt: utc(r.deleted),
		Epoch: epoch, Version: unsigned(r.version.Int64),
	}
}

// body is what changes and entries of the link carry: nothing of a tombstone, and
// of a link with max_clicks not where it leads, which only a use is told, but for
// what blocks are looked up by.
func body(l *link.Link) feed.Body {
	b := usedBody(l)
	if b.Limited {
		b.Target, b.Sites = "", feed.PackSites(b.Target)
	}
	return b
}

// usedBody is body for whoever has taken a use of the link.
func usedBody(l *link.Link) feed.Body {
	if !l.DeletedAt.IsZero() {
		return feed.Body{State: feed.Absent}
	}
	state := feed.Disabled
	if l.Enabled {
		state = feed.Enabled
	}
	return feed.Body{
		State: state, LinkID: unsigned(l.ID), Status: uint16(l.Status), //nolint:gosec // one of four
		Query: l.Query, Suffix: l.Suffix, Class: l.Class, Clicks: l.Clicks, Limited: l.MaxClicks > 0,
		StartsAt: feed.Micros(l.StartsAt), ExpiresAt: feed.Micros(l.ExpiresAt), CreatedAt: feed.Micros(l.CreatedAt),
		Target: l.Target, ExpiredURL: l.ExpiredURL,
	}
}

// nullTime is t for a column where "not set" is null.
func nullTime(t time.Time) pgtype.Timestamptz { return pgtype.Timestamptz{Time: t, Valid: !t.IsZero()} }

// utc is the inverse of nullTime.
func utc(t pgtype.Timestamptz) time.Time {
	if !t.Valid {
		return time.Time{}
	}
	return t.Time.UTC()
}

// micros cuts t to what PostgreSQL keeps, so that a link looks the same when it
// is written as when it is read.
func micros(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMicro(t.UnixMicro()).UTC()
}

// unsigned and signed are for positions, epochs and ids, which PostgreSQL holds
// as bigint and never lets become negative.
func unsigned(v int64) uint64 { return uint64(v) } //nolint:gosec // see above

func signed(v uint64) int64 { return int64(v) } //nolint:gosec // see above
