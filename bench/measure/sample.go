package measure

import (
	"math"
	"slices"
	"time"
)

// Sample is a number of measured times, sorted. It is immutable.
type Sample struct{ sorted []time.Duration }

// NewSample takes a copy of the times.
func NewSample(times []time.Duration) Sample { return Sample{slices.Sorted(slices.Values(times))} }

// N counts the times.
func (s Sample) N() int { return len(s.sorted) }

// Quantile is the least of the times that a share q of them, from 0 to 1, does not exceed: one that was measured, none
// in between (the nearest rank). 0 for an empty sample.
func (s Sample) Quantile(q float64) time.Duration {
	if len(s.sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(q * float64(len(s.sorted))))
	return s.sorted[min(max(rank, 1), len(s.sorted))-1]
}

// Max is the longest time; 0 for an empty sample.
func (s Sample) Max() time.Duration { return s.Quantile(1) }

// Millis is Quantile in milliseconds.
func (s Sample) Millis(q float64) float64 { return Millis(s.Quantile(q)) }

// Millis is a time in milliseconds, as it stands in a report.
func Millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
