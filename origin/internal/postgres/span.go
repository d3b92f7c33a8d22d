package postgres

import (
	"time"

	"waypost/origin/internal/clicks"
)

// widened is the range in whole hours, and where hours are gone in whole days:
// kept is the midnight from which on clicks are kept by the hour.
func widened(r clicks.Range, kept time.Time) clicks.Range {
	unit := func(at time.Time) time.Duration {
		if at.Before(kept) {
			return day
		}
		return time.Hour
	}
	return clicks.Range{From: r.From.UTC().Truncate(unit(r.From)), To: roundUp(r.To, unit(r.To))}
}

// touched is from the midnight before the range to the one after it.
func touched(r clicks.Range) clicks.Range {
	return clicks.Range{From: r.From.UTC().Truncate(day), To: roundUp(r.To, day)}
}

func roundUp(t time.Time, unit time.Duration) time.Time {
	down := t.UTC().Truncate(unit)
	if down.Before(t) {
		return down.Add(unit)
	}
	return down
}

// covers reports whether all of the day that begins at midnight is in the range.
func covers(r clicks.Range, midnight time.Time) bool {
	return !midnight.Before(r.From) && !midnight.Add(day).After(r.To)
}

// partOf is what the range has of the day that begins at midnight, which it
// touches.
func partOf(r clicks.Range, midnight time.Time) clicks.Range {
	if r.From.Before(midnight) {
		r.From = midnight
	}
	if end := midnight.Add(day); r.To.After(end) {
		r.To = end
	}
	return r
}
