package clicks

import (
	"math/rand/v2"
	"testing"
)

func TestATallyCountsEachWord(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	var counts tally // with the memory of those before
	for _, kinds := range []int{1, scan - 1, scan, scan + 1, 100, 5_000, 3, 40} {
		counts.reset()
		want := map[word]uint64{}
		for range 4 * kinds {
			value := word(random.IntN(kinds) * 1_000)
			want[value]++
			if got := counts.add(value); got != (want[value] == 1) {
				t.Fatalf("%d kinds: %d is new: got %t", kinds, value, got)
			}
		}
		for _, v := range counts.values {
			if v.clicks != want[v.value] {
				t.Errorf("%d kinds: got %d clicks of %d, want %d", kinds, v.clicks, v.value, want[v.value])
			}
			delete(want, v.value)
		}
		if len(want) > 0 {
			t.Errorf("%d kinds: missing %v", kinds, want)
		}
	}
}
