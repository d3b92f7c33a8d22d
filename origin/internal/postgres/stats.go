package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/origin/internal/clicks"
	"waypost/shared/click"
)

// Stats reads the statistics of a link in one snapshot. A link without clicks
// has none. Days that the range covers are read as days, what is left at its
// ends by the hour, so that every click is counted once.
func (s *Store) Stats(ctx context.Context, id int64, q clicks.Query) (clicks.Stats, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	c := &collector{link: id, query: q, days: make(map[int64]*clicks.Tally), visitors: make(map[int64]*click.Sketch)}
	err := pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		var kept time.Time
		if err := tx.QueryRow(ctx, `SELECT greatest(hour, 'epoch') FROM click_horizon`).Scan(&kept); err != nil {
			return err
		}
		c.stats.Range = widened(q.Range, kept)
		b := &pgx.Batch{}
		c.queue(b)
		return tx.SendBatch(ctx, b).Close()
	})
	if err != nil {
		return clicks.Stats{}, translate(fmt.Sprintf("stats of link %d", id), err)
	}
	s.damages.tell(ctx, c.damaged)
	return c.result(), nil
}

// collector puts the rows of one link together.
type collector struct {
	link     int64
	query    clicks.Query
	stats    clicks.Stats
	days     map[int64]*clicks.Tally // by days since 1970
	visitors map[int64]*click.Sketch // by days since 1970
	damaged  []damaged
}

// queue queues what reads the rows: days and visitors of the range and of today,
// the hours of days that the range has a part of, and those of one day.
func (c *collector) queue(b *pgx.Batch) {
	days := touched(c.stats.Range)
	const ofDays = ` WHERE link_id = $1 AND (day >= $2 AND day < $3 OR day = $4)`
	b.Queue(`SELECT day, clicks, bots, parts, recent FROM click_day JOIN click_detail USING (link_id, day)`+ofDays,
		c.link, days.From, days.To, c.query.Today).Query(c.scanDays)
	b.Queue(`SELECT day, sketch FROM click_visitors`+ofDays,
		c.link, days.From, days.To, c.query.Today).Query(c.scanVisitors)
	const ofHours = `SELECT hour, clicks, bots, parts FROM click_hour WHERE link_id = $1 AND hour >= $2 AND hour < $3`
	for _, midnight := range slices.Compact([]time.Time{days.From, days.To.Add(-day)}) {
		if !covers(c.stats.Range, midnight) {
			part := partOf(c.stats.Range, midnight)
			b.Queue(ofHours, c.link, part.From, part.To).Query(c.scanHours)
		}
	}
	b.Queue(ofHours, c.link, c.query.Day, c.query.Day.Add(day)).Query(c.scanClock)
}

// countedRow is what the rows of a day begin with, and all of one of
// click_hour.
type countedRow struct {
	at           time.Time
	clicks, bots int64
	parts        []byte
}

func (r *countedRow) dest() []any { return []any{&r.at, &r.clicks, &r.bots, &r.parts} }

func (c *collector) scanDays(rows pgx.Rows) error {
	var r countedRow
	var recent []byte
	_, err := pgx.ForEachRow(rows, append(r.dest(), &recent), func() error {
		c.addVisitors("click_detail.recent", r.at, recent)
		if covers(c.stats.Range, r.at.UTC()) {
			c.count("click_detail.parts", &r)
		}
		return nil
	})
	return err
}

func (c *collector) scanVisitors(rows pgx.Rows) error {
	var at time.Time
	var sketch []byte
	_, err := pgx.ForEachRow(rows, []any{&at, &sketch}, func() error {
		c.addVisitors("click_visitors.sketch", at, sketch)
		return nil
	})
	return err
}

func (c *collector) scanHours(rows pgx.Rows) error {
	var r countedRow
	_, err := pgx.ForEachRow(rows, r.dest(), func() error {
		c.count("click_hour.parts", &r)
		return nil
	})
	return err
}

// scanClock reads the hours of one day, whatever the range.
func (c *collector) scanClock(rows pgx.Rows) error {
	var r countedRow
	_, err := pgx.ForEachRow(rows, r.dest(), func() error {
		c.stats.Hours[r.at.UTC().Hour()] = unsigned(r.clicks)
		return nil
	})
	return err
}

// damage notes a column that cannot be read.
func (c *collector) damage(column string, at time.Time) {
	c.damaged = append(c.damaged, damaged{column, c.link, at.Unix()})
}

// count adds the row, with its parts from a column, to its day.
func (c *collector) count(column string, r *countedRow) {
	parts, ok := partsOf(r.parts, unsigned(r.clicks))
	if !ok {
		c.damage(column, r.at)
	}
	c.stats.Parts = mergeParts(c.stats.Parts, parts)
	d := c.days[dayOf(r.at)]
	if d == nil {
		d = new(clicks.Tally)
		c.days[dayOf(r.at)] = d
	}
	d.Add(clicks.Tally{Clicks: unsigned(r.clicks), Bots: unsigned(r.bots)})
}

// addVisitors adds the visitors in a column to their day.
func (c *collector) addVisitors(column string, at time.Time, packed []byte) {
	sketch, err := click.ParseSketch(packed)
	if err != nil {
		c.damage(column, at)
		return
	}
	all := c.visitors[dayOf(at)]
	if all == nil {
		all = new(click.Sketch)
		c.visitors[dayOf(at)] = all
	}
	all.Merge(&sketch)
}

// result is what the rows came to; days that have none are left out.
func (c *collector) result() clicks.Stats {
	days := touched(c.stats.Range)
	for midnight := days.From; midnight.Before(days.To); midnight = midnight.Add(day) {
		if d := c.days[dayOf(midnight)]; d != nil {
			c.stats.Days = append(c.stats.Days, clicks.DayTally{Day: midnight, Tally: *d})
		}
		if v := c.visitors[dayOf(midnight)]; v != nil {
			c.stats.Visitors = append(c.stats.Visitors, clicks.DayVisitors{Day: midnight, Count: v.Count()})
		}
	}
	if v := c.visitors[dayOf(c.query.Today)]; v != nil {
		c.stats.Today = v.Count()
	}
	return c.stats
}
