package clicks

import (
	"errors"
	"fmt"
	"time"

	"waypost/shared/link"
)

const (
	maxDays       = 1_100 // of one answer about a link: three years and a little
	maxOrphanDays = 100   // of one answer about orphans, which goes by the hour
	defaultDays   = 7

	day = 24 * time.Hour
)

// Period is a range of time as a caller wrote it. Each text is a time in RFC
// 3339, or a date of UTC, 2006-01-02; an empty one was left out.
type Period struct {
	From string // a date: from its first moment on
	To   string // a date: to its last moment
	Day  string // whose hours are asked for; today if left out
}

// query reads the period, whose range may touch so many days: one without an end
// lasts to the end of today, and one without a beginning has seven days. The
// range is widened to whole hours. The error is an *link.InvalidError with every
// fault.
func (p Period) query(now time.Time, most int) (Query, error) {
	var f faults
	today := midnight(now)
	asked := f.read("day", p.Day, today, 0)
	to := f.read("to", p.To, today.Add(day), day)
	from := f.read("from", p.From, midnight(to.Add(-1)).Add((1-defaultDays)*day), 0)
	r := Range{From: from.Truncate(time.Hour), To: to.Add(time.Hour - 1).Truncate(time.Hour)}
	switch {
	case len(f) > 0: // then there are not both ends
	case !from.Before(to):
		f.add("from", "must be before to, which is "+to.Format(time.RFC3339Nano))
	case r.touches() > most:
		f.add("from", fmt.Sprintf("must be at most %d days before to", most))
	}
	if len(f) > 0 {
		return Query{}, &link.InvalidError{Fields: f}
	}
	return Query{Range: r, Day: midnight(asked), Today: today}, nil
}

// faults are the refused parts of a period.
type faults []link.FieldError

func (f *faults) add(field, reason string) {
	*f = append(*f, link.FieldError{Field: field, Reason: reason})
}

// read reads one time; a date is so much later than its first moment.
func (f *faults) read(field, text string, otherwise time.Time, late time.Duration) time.Time {
	if text == "" {
		return otherwise
	}
	at, err := parseTime(text, late)
	if err != nil {
		f.add(field, err.Error())
	}
	return at
}

var (
	errTime = errors.New("must be a date such as 2006-01-02, or a time in RFC 3339 such as 2006-01-02T15:04:05Z (send + as %2B)")
	errYear = errors.New("must be a time from 1970 to 2999")
)

func parseTime(text string, late time.Duration) (time.Time, error) {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		late = 0
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			return time.Time{}, errTime
		}
	}
	if at = at.UTC(); at.Year() < 1970 || at.Year() > 2999 {
		return time.Time{}, errYear
	}
	return at.Add(late), nil
}

// midnight is the first moment of the UTC day of a time.
func midnight(t time.Time) time.Time { return t.UTC().Truncate(day) }

// touches is the number of days that the range has a part of.
func (r Range) touches() int { return int(midnight(r.To.Add(-1)).Sub(midnight(r.From))/day) + 1 }
