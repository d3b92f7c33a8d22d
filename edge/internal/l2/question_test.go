package l2

import (
	"fmt"
	"slices"
	"testing"

	"waypost/shared/bloom"
)

func TestAQuestionServesOneKeyAfterTheOther(t *testing.T) {
	t.Parallel()
	q := newQuestion()
	for _, tc := range []struct {
		filter string
		seen   bloom.Header
		hash   uint64
	}{
		{"t:{s1}:f", bloom.Header{Shape: bloom.Shape{M: 149_760, K: 6}, Epoch: 1}, 1},
		{"t:{s2}:f", bloom.Header{Shape: bloom.Shape{M: bloom.MaxM, K: bloom.MaxK}}, 2},
		{"t:{s3}:f", bloom.Header{Shape: bloom.Shape{M: 64, K: 2}, Epoch: 1}, 3},
	} {
		places := tc.seen.Places(tc.hash)
		want := []string{"BITFIELD_RO", tc.filter, "GET", "i64", "0", "GET", "i64", "128"}
		for _, place := range places {
			want = append(want, "GET", "i64", fmt.Sprint(8*bloom.HeaderSize+64*uint64(place.Word)))
		}
		if tc.seen.Epoch == 0 { // not seen yet
			want = append(want, "GET", "i64", "64", "GET", "i64", "192")
		}
		q.about(t.Context(), "value "+tc.filter, tc.filter, tc.hash, tc.seen)
		if got := texts(q.filter.Args()); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", tc.filter, got, want)
		}
		if got, want := texts(q.value.Args()), []string{"GET", "value " + tc.filter}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", tc.filter, got, want)
		}
	}
}

// texts are arguments as they go to Redis.
func texts(args []any) (all []string) {
	for _, arg := range args {
		if offset, ok := arg.(*int64); ok {
			arg = *offset
		}
		all = append(all, fmt.Sprint(arg))
	}
	return all
}
