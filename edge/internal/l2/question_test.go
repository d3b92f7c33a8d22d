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
		shape  bloom.Shape
		hash   uint64
	}{
		{"t:{s1}:f", bloom.Shape{M: 149_767, K: 7}, 1},
		{"t:{s2}:f", bloom.Shape{M: bloom.MaxM, K: bloom.MaxK}, 2},
		{"t:{s3}:f", bloom.Shape{M: 64, K: 2}, 3},
	} {
		want := []string{
			"BITFIELD_RO", tc.filter, "GET", "i64", "0", "GET", "i64", "64", "GET", "i64", "128", "GET", "i64", "192",
			"GET", "u8", fmt.Sprint(8 * tc.shape.EndAt()),
		}
		for _, bit := range tc.shape.Positions(tc.hash, nil) {
			want = append(want, "GET", "u1", fmt.Sprint(bloom.HeaderSize*8+uint64(bit)))
		}
		var got []string
		for _, arg := range q.of(tc.filter, tc.shape, tc.hash) {
			if offset, ok := arg.(*int64); ok {
				arg = *offset
			}
			got = append(got, fmt.Sprint(arg))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", tc.filter, got, want)
		}
	}
}
