package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/shared/click"
)

// The rows that a stretch adds to. The names are looked up one by one in the
// tables' keys, as the ingest's connections are set.
const (
	readNewest  = `SELECT link_id, newest FROM click_newest WHERE link_id = ANY($1)`
	readDetails = `SELECT d.link_id, d.day, d.parts, d.recent
		FROM unnest($1::bigint[], $2::date[]) k(link_id, day) JOIN click_detail d USING (link_id, day)`
	readHours = `SELECT h.link_id, h.hour, h.clicks, h.bots, h.parts
		FROM unnest($1::bigint[], $2::timestamptz[]) k(link_id, hour) JOIN click_hour h USING (link_id, hour)`
	readDays = `SELECT d.link_id, d.day, d.clicks
		FROM unnest($1::bigint[], $2::date[]) k(link_id, day) JOIN click_day d USING (link_id, day)`
	readSketches = `SELECT v.link_id, v.day, v.sketch
		FROM unnest($1::bigint[], $2::date[]) k(link_id, day) JOIN click_visitors v USING (link_id, day)`

	addLinks = `UPDATE click_link c SET clicks = c.clicks + n.clicks, bots = c.bots + n.bots
		FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) n(link_id, clicks, bots)
		WHERE c.link_id = n.link_id`
	writeNewest = `INSERT INTO click_newest (link_id, newest) SELECT * FROM unnest($1::bigint[], $2::bytea[])
		ON CONFLICT (link_id) DO UPDATE SET newest = excluded.newest`
	addDays = `INSERT INTO click_day AS d (link_id, day, clicks, bots)
		SELECT * FROM unnest($1::bigint[], $2::date[], $3::bigint[], $4::bigint[])
		ON CONFLICT (link_id, day) DO UPDATE SET clicks = d.clicks + excluded.clicks, bots = d.bots + excluded.bots`
	writeDetails = `INSERT INTO click_detail (link_id, day, parts, recent)
		SELECT * FROM unnest($1::bigint[], $2::date[], $3::bytea[], $4::bytea[])
		ON CONFLICT (link_id, day) DO UPDATE SET parts = excluded.parts, recent = excluded.recent`
	writeHours = `INSERT INTO click_hour (link_id, hour, clicks, bots, parts)
		SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::bigint[], $4::bigint[], $5::bytea[])
		ON CONFLICT (link_id, hour) DO UPDATE SET clicks = excluded.clicks, bots = excluded.bots, parts = excluded.parts`
	writeSketches = `INSERT INTO click_visitors (link_id, day, sketch)
		SELECT * FROM unnest($1::bigint[], $2::date[], $3::bytea[])
		ON CONFLICT (link_id, day) DO UPDATE SET sketch = excluded.sketch`
	// Last, since every stretch of a region counts in the same row.
	addOrphans = `INSERT INTO click_orphan AS o (hour, region, count)
		SELECT n.hour, $2, n.count FROM unnest($1::timestamptz[], $3::bigint[]) n(hour, count) ORDER BY n.hour
		ON CONFLICT (hour, region) DO UPDATE SET count = o.count + excluded.count`
)

// read adds to what is written as a whole what is there.
func (c *count) read(ctx context.Context, tx pgx.Tx) error {
	ids := make([]int64, len(c.links))
	for i := range c.links {
		ids[i] = c.links[i].link
	}
	b := &pgx.Batch{}
	b.Queue(readNewest, ids).Query(c.scanNewest)
	b.Queue(readDetails, keysOf(c.days, (*dayTally).linkTime)...).Query(c.scanDetails)
	b.Queue(readHours, keysOf(c.hours, (*hourTally).linkTime)...).Query(c.scanHours)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	return c.readUnread(ctx, tx)
}

// readUnread reads how many clicks the days had whose parts could not be read.
func (c *count) readUnread(ctx context.Context, tx pgx.Tx) error {
	if len(c.unread) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, readDays, keysOf(c.unread, func(d **dayTally) (int64, time.Time) { return (*d).linkTime() })...)
	if err != nil {
		return err
	}
	var key linkTime
	var at time.Time
	var clicks int64
	_, err = pgx.ForEachRow(rows, []any{&key.link, &at, &clicks}, func() error {
		key.at = dayOf(at)
		d := c.dayAt[key]
		d.parts = mergeParts(d.parts, unknownParts(unsigned(clicks)))
		return nil
	})
	return err
}

// damage notes a column that cannot be read.
func (c *count) damage(column string, link int64, at time.Time) {
	c.damaged = append(c.damaged, damaged{column, link, at.Unix()})
}

func (d *dayTally) linkTime() (int64, time.Time) { return d.key.link, dayTime(d.key.at) }

func (h *hourTally) linkTime() (int64, time.Time) { return h.key.link, hourTime(h.key.at) }

// keysOf are the arguments that name rows: links, and their times.
func keysOf[T any](rows []T, key func(*T) (int64, time.Time)) []any {
	ids, times := make([]int64, len(rows)), make([]time.Time, len(rows))
	for i := range rows {
		ids[i], times[i] = key(&rows[i])
	}
	return []any{ids, times}
}

func (c *count) scanNewest(rows pgx.Rows) error {
	var id int64
	var packed []byte
	_, err := pgx.ForEachRow(rows, []any{&id, &packed}, func() error {
		newest, err := unpackNewest(packed)
		if err != nil {
			c.damage("click_newest.newest", id, time.Unix(0, 0))
		}
		l := c.linkAt[id]
		l.newest = mergeNewest(l.newest, newest)
		return nil
	})
	return err
}

func (c *count) scanDetails(rows pgx.Rows) error {
	var key linkTime
	var at time.Time
	var packed, recent []byte
	_, err := pgx.ForEachRow(rows, []any{&key.link, &at, &packed, &recent}, func() error {
		key.at = dayOf(at)
		d := c.dayAt[key]
		parts, _, err := unpackParts(packed)
		if err != nil {
			c.damage("click_detail.parts", key.link, at)
			c.unread = append(c.unread, d)
		}
		d.parts = mergeParts(d.parts, parts)
		sketch, err := click.ParseSketch(recent)
		if err != nil {
			c.damage("click_detail.recent", key.link, at)
		}
		d.recent.Merge(&sketch)
		return nil
	})
	return err
}

func (c *count) scanHours(rows pgx.Rows) error {
	var key linkTime
	var at time.Time
	var clicks, bots int64
	var packed []byte
	_, err := pgx.ForEachRow(rows, []any{&key.link, &at, &clicks, &bots, &packed}, func() error {
		key.at = hourOf(at)
		parts, ok := partsOf(packed, unsigned(clicks))
		if !ok {
			c.damage("click_hour.parts", key.link, at)
		}
		c.hourAt[key].add(unsigned(clicks), unsigned(bots), parts)
		return nil
	})
	return err
}

// write writes what is now to be in the rows, or to be added to them.
func (c *count) write(ctx context.Context, tx pgx.Tx, region string) error {
	b := &pgx.Batch{}
	if len(c.links) > 0 {
		c.queueLinks(b)
		c.queueDays(b)
	}
	if len(c.hours) > 0 {
		b.Queue(writeHours, c.hourColumns()...)
	}
	if sketches := c.sketchColumns(); sketches != nil {
		b.Queue(writeSketches, sketches...)
	}
	if len(c.orphans) > 0 {
		hours, counts := make([]time.Time, len(c.orphans)), make([]int64, len(c.orphans))
		for i, o := range c.orphans {
			hours[i], counts[i] = hourTime(o.Hour), signed(o.Count)
		}
		b.Queue(addOrphans, hours, region, counts)
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("write counters: %w", err)
	}
	return nil
}

func (c *count) queueLinks(b *pgx.Batch) {
	n := len(c.links)
	ids, clicks, bots, newest := make([]int64, n), make([]int64, n), make([]int64, n), make([][]byte, n)
	for i := range c.links {
		l := &c.links[i]
		ids[i], clicks[i], bots[i], newest[i] = l.link, signed(l.clicks), signed(l.bots), packNewest(l.newest)
	}
	b.Queue(addLinks, ids, clicks, bots)
	b.Queue(writeNewest, ids, newest)
}

func (c *count) queueDays(b *pgx.Batch) {
	n := len(c.days)
	clicks, bots, parts, recent := make([]int64, n), make([]int64, n), make([][]byte, n), make([][]byte, n)
	for i := range c.days {
		d := &c.days[i]
		clicks[i], bots[i], parts[i] = signed(d.clicks), signed(d.bots), packParts(d.bounded().parts)
		recent[i] = d.recent.Append(nil)
	}
	keys := keysOf(c.days, (*dayTally).linkTime)
	b.Queue(addDays, slices.Concat(keys, []any{clicks, bots})...)
	b.Queue(writeDetails, slices.Concat(keys, []any{parts, recent})...)
}

func (c *count) hourColumns() []any {
	n := len(c.hours)
	clicks, bots, parts := make([]int64, n), make([]int64, n), make([][]byte, n)
	for i := range c.hours {
		h := &c.hours[i]
		clicks[i], bots[i], parts[i] = signed(h.clicks), signed(h.bots), packParts(h.bounded().parts)
	}
	return append(keysOf(c.hours, (*hourTally).linkTime), clicks, bots, parts)
}
