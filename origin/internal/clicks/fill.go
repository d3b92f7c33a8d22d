package clicks

import "time"

// fill puts in every day of the range that the store left out.
func (s *Stats) fill() {
	s.Days = filled(s.Range, s.Days, func(d DayTally) time.Time { return d.Day },
		func(day time.Time) DayTally { return DayTally{Day: day} })
	s.Visitors = filled(s.Range, s.Visitors, func(d DayVisitors) time.Time { return d.Day },
		func(day time.Time) DayVisitors { return DayVisitors{Day: day} })
}

// filled is an entry for each day of the range: those there are, ascending, and
// empty ones.
func filled[T any](r Range, some []T, dayOf func(T) time.Time, empty func(time.Time) T) []T {
	all := make([]T, 0, r.touches())
	for at := midnight(r.From); at.Before(r.To); at = at.Add(day) {
		if len(some) > 0 && dayOf(some[0]).Equal(at) {
			all, some = append(all, some[0]), some[1:]
			continue
		}
		all = append(all, empty(at))
	}
	return all
}
