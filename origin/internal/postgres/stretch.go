package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/shared/click"
	"waypost/shared/failpoint"
	"waypost/shared/link"
)

// ApplyStretch counts a stretch of an edge's log, in one transaction, if the
// mark of the log is where the stretch begins, and then moves the mark to where
// it ends; otherwise nothing happens, so that a stretch may be sent again, by
// two senders at once, late, or as part of a longer one. In either case it
// returns the mark, from which the edge goes on: 0 for a log that is not known.
// applied says whether this call counted it.
//
// Clicks of a link whose counters are gone are passed over; those of a time that
// is far off are counted at the nearest that is not. Counters that are damaged
// are counted on. Stretches that count for the same links wait for each other, and
// never in a circle.
//
// Errors: link.ErrUnavailable, which leaves open whether the stretch was
// applied, as sending it again tells; *link.InvalidError for one that can never
// be.
func (s *Store) ApplyStretch(ctx context.Context, st *click.Stretch) (mark uint64, applied bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.ingestTime)
	defer cancel()
	if err := checkStretch(st); err != nil {
		return 0, false, err
	}
	var moved uint64
	err = pgx.BeginFunc(ctx, s.clicks, func(tx pgx.Tx) error {
		mark, applied, err = moveMark(ctx, tx, st)
		if err != nil || !applied {
			return err
		}
		if moved, err = s.countStretch(ctx, tx, st); err != nil {
			return err
		}
		failpoint.Hit(failpoint.StretchSent)
		return nil
	})
	if err != nil {
		return 0, false, translate("stretch of "+st.Boot, err)
	}
	if applied {
		failpoint.Hit(failpoint.StretchKept)
	}
	s.note(st, applied, moved)
	return mark, applied, nil
}

// note counts what became of a stretch; questions for a mark are none.
func (s *Store) note(st *click.Stretch, applied bool, moved uint64) {
	switch {
	case applied:
		s.counted.moved.Add(moved)
		s.counted.stretches.Add(1)
		s.counted.clicks.Add(st.Clicks())
	case st.To > st.From:
		s.counted.repeated.Add(1)
	}
}

// checkStretch refuses what has no place in the tables, or would be counted as
// often as it is sent.
func checkStretch(st *click.Stretch) error {
	var reason string
	switch {
	case st.To > math.MaxInt64 || st.From > st.To:
		reason = "has offsets that are none"
	case st.From == st.To && (len(st.Links) > 0 || len(st.Orphans) > 0):
		reason = "has clicks, but no length"
	default:
		return nil
	}
	return &link.InvalidError{Fields: []link.FieldError{{Field: "stretch", Reason: reason}}}
}

// moveMark moves the mark of the stretch's log if it is where the stretch
// begins, and returns it as it is then; a stretch of no length asks where it is,
// and moves nothing. The row stays locked: two senders of one log take turns.
func moveMark(ctx context.Context, tx pgx.Tx, st *click.Stretch) (mark uint64, moved bool, err error) {
	if st.From == 0 && st.To > 0 {
		_, err := tx.Exec(ctx, `INSERT INTO click_mark (boot, region, off, finished, touched)
			VALUES ($1, $2, 0, false, clock_timestamp()) ON CONFLICT (boot) DO NOTHING`, st.Boot, st.Region)
		if err != nil {
			return 0, false, fmt.Errorf("new mark: %w", err)
		}
	}
	tag, err := tx.Exec(ctx, `UPDATE click_mark SET off = $3, finished = finished OR $4, touched = clock_timestamp()
		WHERE boot = $1 AND off = $2`, st.Boot, signed(st.From), signed(st.To), st.Last)
	if err != nil {
		return 0, false, fmt.Errorf("move mark: %w", err)
	}
	if tag.RowsAffected() == 1 {
		return st.To, st.To > st.From, nil
	}
	var off int64
	err = tx.QueryRow(ctx, `SELECT off FROM click_mark WHERE boot = $1`, st.Boot).Scan(&off)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, false, fmt.Errorf("read mark: %w", err)
	}
	return unsigned(off), false, nil
}

// countStretch adds what a stretch has to the counters, and says how many of its
// clicks were moved to another hour. Each step is one round trip, whatever the
// number of links.
func (s *Store) countStretch(ctx context.Context, tx pgx.Tx, st *click.Stretch) (moved uint64, err error) {
	known, w, err := lockLinks(ctx, tx, st)
	if err != nil {
		return 0, fmt.Errorf("lock links: %w", err)
	}
	c := newCount(st, known, w)
	if err := c.read(ctx, tx); err != nil {
		return 0, fmt.Errorf("read counters: %w", err)
	}
	if err := c.readVisitors(ctx, tx); err != nil {
		return 0, fmt.Errorf("read visitors: %w", err)
	}
	s.damages.tell(ctx, c.damaged)
	return c.moved, c.write(ctx, tx, st.Region)
}

// lockClickLinks is a join: of "= ANY" PostgreSQL would search the whole array
// for each row that it had to wait for.
const lockClickLinks = `SELECT c.link_id FROM unnest($1::bigint[]) k(link_id) JOIN click_link c USING (link_id)
	ORDER BY c.link_id FOR UPDATE OF c`

// lockLinks locks the links of a stretch, in ascending order, and tells which of
// them have counters, and in which hours clicks are counted. Whatever else is
// written of a link is written under this lock.
func lockLinks(ctx context.Context, tx pgx.Tx, st *click.Stretch) (known map[int64]bool, w window, err error) {
	ids := make([]int64, 0, len(st.Links))
	for i := range st.Links {
		if id := st.Links[i].Link; id <= math.MaxInt64 {
			ids = append(ids, signed(id))
		}
	}
	known = make(map[int64]bool, len(ids))
	b := &pgx.Batch{}
	b.Queue(lockClickLinks, ids).
		Query(func(rows pgx.Rows) error {
			var id int64
			_, err := pgx.ForEachRow(rows, []any{&id}, func() error {
				known[id] = true
				return nil
			})
			return err
		})
	b.Queue(`SELECT clock_timestamp(), greatest(hour, 'epoch') FROM click_horizon`).QueryRow(func(row pgx.Row) error {
		var now, kept time.Time
		err := row.Scan(&now, &kept)
		w = windowAt(now, kept)
		return err
	})
	return known, w, tx.SendBatch(ctx, b).Close()
}

// hourOf and hourTime turn hours since 1970 into times and back, as dayOf and
// dayTime do for days.
func hourOf(t time.Time) int64 { return t.Unix() / int64(time.Hour/time.Second) }

func hourTime(hour int64) time.Time { return time.Unix(hour*int64(time.Hour/time.Second), 0).UTC() }

func dayOf(t time.Time) int64 { return t.Unix() / int64(day/time.Second) }

func dayTime(days int64) time.Time { return time.Unix(days*int64(day/time.Second), 0).UTC() }
