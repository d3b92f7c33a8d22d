package clicks

import (
	"time"

	"waypost/shared/click"
	"waypost/shared/link"
)

// Range is a range of time, UTC; To does not belong to it.
type Range struct{ From, To time.Time }

// Query is what is asked about a link.
type Query struct {
	Range Range     // in whole hours
	Day   time.Time // the midnight of the day whose hours are asked for
	Today time.Time // the midnight of the day whose visitors are asked for
}

// Tally is a number of clicks.
type Tally struct {
	Clicks uint64 // bots included
	Bots   uint64
}

// Add adds another tally.
func (t *Tally) Add(other Tally) {
	t.Clicks += other.Clicks
	t.Bots += other.Bots
}

// DayTally are the clicks of one day that are in the range.
type DayTally struct {
	Day time.Time // its midnight
	Tally
}

// DayVisitors are the visitors of one day, all of it.
type DayVisitors struct {
	Day   time.Time // its midnight
	Count uint64
}

// Stats are the statistics of a link, from one snapshot, so that sums are exact:
// the Days add up to Total, and so do the Parts of each dimension.
type Stats struct {
	Range    Range         // as asked for, widened to whole days where hours are gone
	Days     []DayTally    // ascending; a store may leave out those without clicks
	Visitors []DayVisitors // ascending; a store may leave out those without any
	Today    uint64        // visitors of Query.Today
	Hours    [24]uint64    // clicks of each hour of Query.Day, bots included; zeros where hours are gone
	Parts    []click.Part  // ascending by dimension and value
}

// Total adds up the days.
func (s *Stats) Total() Tally {
	var sum Tally
	for _, d := range s.Days {
		sum.Add(d.Tally)
	}
	return sum
}

// Ranked is a link in a list of those with the most clicks.
type Ranked struct {
	Key    link.Key
	Clicks uint64
}

// Orphans are requests in one hour and region for codes that do not exist.
type Orphans struct {
	Hour   time.Time // its beginning
	Region string
	Count  uint64
}
