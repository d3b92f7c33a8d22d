//go:build !race

package l1

import (
	"fmt"
	"testing"
	"testing/synctest"
)

func TestAHitDoesNotAllocate(t *testing.T) {
	c := newCache(t, 1<<20)
	e := entry("a", 1)
	c.Store(e.Key.Hash(), e)
	c.Wait()
	hash, code := e.Key.Hash(), []byte("a")
	if got := testing.AllocsPerRun(1000, func() {
		if c.Entry("", code, hash) == nil {
			t.Error("not found")
		}
	}); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// All hits but a few of a place's entry are told to nobody; those few must do. (Under the race detector the cache
// forgets most of what it is told.)
func TestWhatIsAskedForAllTheTimeIsNotForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // where the cache has always done with what it was told
		c, err := New(100 << 10)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		e := entry("hot", 1)
		c.Store(e.Key.Hash(), e)
		for range 20 * countOne {
			synctest.Wait()
			for range 64 { // the cache counts in batches
				held(c, "hot")
			}
		}
		for i := range 5000 {
			cold := entry(fmt.Sprintf("c%d", i), 1)
			c.Store(cold.Key.Hash(), cold)
			synctest.Wait()
			for range 64 {
				if held(c, "hot") == nil {
					t.Fatalf("forgotten when %d others had been stored, each asked for never", i)
				}
			}
		}
	})
}
