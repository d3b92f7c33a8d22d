package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/shared/click"
)

// maxRecent is how many visitors of a day stand in its row before they are put
// to the others. A sketch of many is 16 KB: without this every stretch would
// write one for each link it has, for a handful of visitors.
const maxRecent = 192

// readVisitors puts the visitors of days that have many new ones to those there
// were before.
func (c *count) readVisitors(ctx context.Context, tx pgx.Tx) error {
	var full []*dayTally
	for i := range c.days {
		if d := &c.days[i]; d.recent.Count() > maxRecent {
			visitors := d.recent
			d.visitors, d.recent = &visitors, click.Sketch{}
			full = append(full, d)
		}
	}
	if len(full) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, readSketches, keysOf(full, func(d **dayTally) (int64, time.Time) { return (*d).linkTime() })...)
	if err != nil {
		return err
	}
	var key linkTime
	var at time.Time
	var packed []byte
	_, err = pgx.ForEachRow(rows, []any{&key.link, &at, &packed}, func() error {
		key.at = dayOf(at)
		before, err := click.ParseSketch(packed)
		if err != nil {
			c.damage("click_visitors.sketch", key.link, at)
		}
		c.dayAt[key].visitors.Merge(&before)
		return nil
	})
	return err
}

// sketchColumns are the sketches to be written, nil for none.
func (c *count) sketchColumns() []any {
	var days []*dayTally
	var sketches [][]byte
	for i := range c.days {
		if d := &c.days[i]; d.visitors != nil {
			days, sketches = append(days, d), append(sketches, d.visitors.Append(nil))
		}
	}
	if len(days) == 0 {
		return nil
	}
	return append(keysOf(days, func(d **dayTally) (int64, time.Time) { return (*d).linkTime() }), sketches)
}
