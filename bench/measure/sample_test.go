package measure

import (
	"testing"
	"time"
)

func TestQuantilesAreTimesThatWereMeasured(t *testing.T) {
	t.Parallel()
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i)*time.Millisecond)
	}
	for _, tt := range []struct {
		name  string
		times []time.Duration
		q     float64
		want  time.Duration
	}{
		{"none", nil, 0.5, 0},
		{"one", hundred[:1], 0.99, 100 * time.Millisecond},
		{"the least", hundred, 0, time.Millisecond},
		{"the median of two is the lower", hundred[:2], 0.5, 99 * time.Millisecond},
		{"p50", hundred, 0.5, 50 * time.Millisecond},
		{"p99", hundred, 0.99, 99 * time.Millisecond},
		{"p99.1 is beyond the 99th", hundred, 0.991, 100 * time.Millisecond},
		{"the most", hundred, 1, 100 * time.Millisecond},
	} {
		if got := NewSample(tt.times).Quantile(tt.q); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}
