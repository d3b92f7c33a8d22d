package postgres

import (
	"slices"
	"time"

	"waypost/shared/click"
)

// clicksAhead is how far ahead of PostgreSQL's clock an hour may be in which
// clicks are counted: more than any clock of an edge is off.
const clicksAhead = 2 * time.Hour

// window are the hours, since 1970, in which clicks are counted at one moment. An
// edge may say what it likes of when they were: what lies outside is counted in
// the nearest hour within. So no click is lost, and no edge makes rows of a
// time that never comes, or is never pruned.
type window struct {
	oldest, latest int64
	kept           int64 // from here on by the hour, before it by the day alone
}

// windowAt is the window at a time by PostgreSQL's clock. It reaches back as far
// as marks are kept: of a log that waited longer nobody knows what was counted.
func windowAt(now, kept time.Time) window {
	return window{oldest: hourOf(now.Add(-keepMarks)), latest: hourOf(now.Add(clicksAhead)), kept: hourOf(kept)}
}

// hour is the nearest hour within; as hours ascend, so do their nearest.
func (w window) hour(hour int64) int64 { return min(max(hour, w.oldest), w.latest) }

// day is the nearest day within, since 1970.
func (w window) day(days int64) int64 {
	return min(max(days, click.DayOf(w.oldest)), click.DayOf(w.latest))
}

// recents are clicks at times within. The list that is given stays as it is: it
// is shared with those who view a link.
func (w window) recents(clicks []click.Recent) []click.Recent {
	first, last := click.HourStart(w.oldest), click.HourStart(w.latest+1)-1
	outside := func(c click.Recent) bool { return c.At < first || c.At > last }
	if !slices.ContainsFunc(clicks, outside) {
		return clicks
	}
	within := slices.Clone(clicks)
	for i := range within {
		within[i].At = min(max(within[i].At, first), last)
	}
	return within
}

// orphans are those of a stretch, by hours within.
func (w window) orphans(counts []click.HourCount) []click.HourCount {
	within := make([]click.HourCount, 0, len(counts))
	for _, c := range counts {
		hour := w.hour(c.Hour)
		if n := len(within); n > 0 && within[n-1].Hour == hour {
			within[n-1].Count += c.Count
			continue
		}
		within = append(within, click.HourCount{Hour: hour, Count: c.Count})
	}
	return within
}
