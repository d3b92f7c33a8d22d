package feed

import "time"

// Membership is what PostgreSQL knows of one run of an edge.
type Membership struct {
	Member Member
	LeftAt time.Time // by PostgreSQL's clock; zero: it has not left
}

// Answered reports whether a probe of the edge may be answered with heads read
// in the same statement as the membership. One that left joins again first.
func (m Membership) Answered() bool { return m.LeftAt.IsZero() }

// Counts reports whether a write that read the memberships at now, by
// PostgreSQL's clock and after its commit, has to wait for the edge. One that
// left counts for as long as a lease may last that an answer from before gave
// it.
func (m Membership) Counts(now time.Time, bound time.Duration) bool {
	return m.LeftAt.IsZero() || now.Before(m.LeftAt.Add(Outlast(bound)))
}

// Outlast is how long to wait by one clock until bound has passed by every
// other: 1 % more, which no two clocks differ by in rate.
func Outlast(bound time.Duration) time.Duration { return bound + bound/100 }
