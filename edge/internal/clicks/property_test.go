package clicks

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"waypost/edge/internal/clicks/spool"
	"waypost/shared/click"
)

// faults loses, repeats and delays what is sent to an origin, by chance.
type faults struct {
	origin *fakeOrigin
	rng    *rand.Rand
	late   [][]byte // arrived nowhere yet
	off    bool

	refuses bool // clicks of one link
}

func (f *faults) next(stretch []byte) (apply int, err error) {
	if f.refuses && poisoned(f.origin.t, stretch) {
		return 0, click.ErrRefused
	}
	if f.off {
		return 1, nil
	}
	if len(f.late) > 0 && f.rng.IntN(3) == 0 { // now it arrives, after those sent later
		i := f.rng.IntN(len(f.late))
		f.origin.apply(f.late[i])
		f.late = append(f.late[:i], f.late[i+1:]...)
	}
	if len(stretch) > 1_500 && f.rng.IntN(4) > 0 {
		return f.rng.IntN(2), errLost // the longer, the rather
	}
	switch f.rng.IntN(6) {
	case 0:
		return 0, errLost
	case 1:
		return 1, errLost // killed between commit and answer
	case 2:
		return 2, nil
	case 3:
		f.late = append(f.late, stretch)
		return 0, errLost
	default:
		return 1, nil
	}
}

// TestWhateverHappensOnTheWayEveryClickCountsOnce counts by chance, ships by
// chance, to an origin that by chance does not get it or does not answer, with
// a disk budget that folds most of it, over several processes. Every other time
// the origin refuses the clicks of one link until all others are counted; then
// they are brought back.
func TestWhateverHappensOnTheWayEveryClickCountsOnce(t *testing.T) {
	t.Parallel()
	var folded, retries, refused atomic.Uint64
	t.Cleanup(func() {
		if folded.Load() == 0 || retries.Load() == 0 || refused.Load() == 0 {
			t.Errorf("got %d folded clicks, %d retries and %d refused clicks: the test has not tested them",
				folded.Load(), retries.Load(), refused.Load())
		}
	})
	for seed := range uint64(16) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 4))
			o := newOrigin(t)
			f := &faults{origin: o, rng: rng, refuses: seed%2 == 1}
			o.fault = f.next
			dir, clock, want := t.TempDir(), newClock(), make(sums)
			start := func() *edge {
				return startEdge(t, dir, o, clock, func(files *spool.Config, cfg *Config) {
					files.SegmentBytes = 2 << 10
					cfg.Disk = []int64{1, 16 << 10, 1 << 30}[rng.IntN(3)]
				})
			}
			e := start()
			for n := range 1_500 {
				switch rng.IntN(40) {
				case 0, 1, 2:
					e.round(t.Context())
				case 3:
					s := e.Stats()
					folded.Add(s.Folded)
					retries.Add(s.Retries)
					if rng.IntN(3) == 0 {
						e.stop()
						e = start()
					}
				case 4:
					e.Cancel(e.Count(visit(9, n)), nil)
				case 5:
					e.Orphan(clock.at.UnixMicro())
					want[fmt.Sprint("orphans ", click.HourOf(clock.at.UnixMicro()))]++
					e.record()
				case 6:
					e.count(want, visit([]uint64{poison, 0, 1}[rng.IntN(3)], n))
				default:
					e.count(want, visit(uint64(rng.IntN(5)), n))
				}
			}
			e.round(t.Context())
			e.stop()
			f.off = true
			e = start()
			e.settle(t)
			if f.refuses {
				refused.Add(e.Stats().Refused)
				e.stop()
				f.refuses = false
				bringBack(t, dir)
				e = start()
				e.settle(t)
			}
			for _, stretch := range f.late { // far too late
				o.apply(stretch)
			}
			o.same(t, want)
			if s := e.Stats(); s.Missing != 0 || s.LateVoids != 0 || s.Unreadable != 0 {
				t.Errorf("got %+v", s)
			}
		})
	}
}
