package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"waypost/shared/link"
)

// inserts are rows of links on their way to it, a slice a column.
type inserts struct {
	domains, codes, targets, owners, titles, tags  []string
	queries, suffixes, classes, expiredURLs        []string
	shards, statuses                               []int16
	ids, versions, hashes, maxClicks               []int64
	generated, enabled, clicks                     []bool
	startsAt, expiresAt, created, updated, deleted []pgtype.Timestamptz
}

// insertLinks has tags in their text form, since arrays in an array are all of
// one length.
const insertLinks = `
	INSERT INTO links (domain, code, shard, link_id, version, generated, target, target_hash, status, enabled, owner, title, tags,
		query, suffix, class, clicks, starts_at, expires_at, expired_url, max_clicks, created_at, updated_at, deleted_at)
	SELECT domain, code, shard, link_id, version, generated, target, target_hash, status, enabled, owner, title, tags::text[],
		query, suffix, class, clicks, starts_at, expires_at, expired_url, max_clicks, created_at, updated_at, deleted_at
	FROM unnest($1::text[], $2::text[], $3::smallint[], $4::bigint[], $5::bigint[], $6::boolean[], $7::text[], $8::bigint[],
		$9::smallint[], $10::boolean[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[],
		$17::boolean[], $18::timestamptz[], $19::timestamptz[], $20::text[], $21::bigint[], $22::timestamptz[], $23::timestamptz[],
		$24::timestamptz[])
		l(domain, code, shard, link_id, version, generated, target, target_hash, status, enabled, owner, title, tags, query, suffix,
		class, clicks, starts_at, expires_at, expired_url, max_clicks, created_at, updated_at, deleted_at)`

// add takes the row of a link of which there was none.
func (in *inserts) add(shard int, generated bool, l *link.Link) {
	in.domains, in.codes = append(in.domains, l.Key.Domain), append(in.codes, l.Key.Code)
	in.shards = append(in.shards, int16(shard)) //nolint:gosec // at most 63
	in.ids, in.versions = append(in.ids, l.ID), append(in.versions, signed(l.Version))
	in.generated = append(in.generated, generated)
	in.targets, in.hashes = append(in.targets, l.Target), append(in.hashes, targetHash(l.Target))
	in.statuses = append(in.statuses, int16(l.Status)) //nolint:gosec // one of four
	in.enabled, in.clicks = append(in.enabled, l.Enabled), append(in.clicks, l.Clicks)
	in.owners, in.titles, in.tags = append(in.owners, l.Owner), append(in.titles, l.Title), append(in.tags, textArray(l.Tags))
	in.queries, in.suffixes = append(in.queries, l.Query.String()), append(in.suffixes, l.Suffix.String())
	in.classes = append(in.classes, l.Class.String())
	in.startsAt, in.expiresAt = append(in.startsAt, nullTime(l.StartsAt)), append(in.expiresAt, nullTime(l.ExpiresAt))
	in.expiredURLs, in.maxClicks = append(in.expiredURLs, l.ExpiredURL), append(in.maxClicks, l.MaxClicks)
	in.created, in.updated = append(in.created, nullTime(l.CreatedAt)), append(in.updated, nullTime(l.UpdatedAt))
	in.deleted = append(in.deleted, nullTime(l.DeletedAt))
}

// queue queues the rows.
func (in *inserts) queue(b *pgx.Batch) {
	if len(in.codes) == 0 {
		return
	}
	b.Queue(insertLinks, in.domains, in.codes, in.shards, in.ids, in.versions, in.generated, in.targets, in.hashes,
		in.statuses, in.enabled, in.owners, in.titles, in.tags, in.queries, in.suffixes, in.classes,
		in.clicks, in.startsAt, in.expiresAt, in.expiredURLs, in.maxClicks, in.created, in.updated, in.deleted)
}

// raced is errRaced for the error of a write that found a row of a link which was
// not there under the locks. The server refuses it, so that the commit need not
// wait for somebody who counts rows; other errors are returned as they are.
func raced(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == uniqueViolation && e.TableName == "links" {
		return fmt.Errorf("new links: %w", errRaced)
	}
	return err
}

// textArray is an array of text in the form that PostgreSQL reads.
func textArray(values []string) string {
	text := []byte{'{'}
	for i, v := range values {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, '"')
		for j := range len(v) {
			if v[j] == '"' || v[j] == '\\' {
				text = append(text, '\\')
			}
			text = append(text, v[j])
		}
		text = append(text, '"')
	}
	return string(append(text, '}'))
}
