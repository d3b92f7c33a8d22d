package l1

import (
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"testing"

	"waypost/shared/feed"
	"waypost/shared/link"
)

func newCache(t *testing.T, size int64) *Cache {
	t.Helper()
	c, err := New(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func entry(code string, asof uint64) *feed.Entry {
	return &feed.Entry{Epoch: 1, AsOf: asof, Version: asof, Key: link.Key{Code: code}, Body: feed.Body{
		State: feed.Enabled, Status: 302, Target: "https://example.com/a/path/of/some/length",
	}}
}

// held is what a cache holds for a code.
func held(c *Cache, code string) *feed.Entry {
	return c.Entry("", []byte(code), link.Key{Code: code}.Hash())
}

func TestANewerEntryStays(t *testing.T) {
	t.Parallel()
	c := newCache(t, 1<<20)
	hash := link.Key{Code: "a"}.Hash()
	if held(c, "a") != nil {
		t.Fatal("an empty cache holds something")
	}
	c.Store(hash, entry("a", 5))
	c.Wait()
	for _, asof := range []uint64{4, 7, 6} {
		c.Store(hash, entry("a", asof))
	}
	if got := held(c, "a").AsOf; got != 7 {
		t.Errorf("got position %d, want 7", got)
	}
}

func TestReplaceIsForWhatIsHeld(t *testing.T) {
	t.Parallel()
	c := newCache(t, 1<<20)
	hash := link.Key{Code: "a"}.Hash()
	c.Replace(hash, entry("a", 5))
	c.Wait()
	if held(c, "a") != nil {
		t.Error("Replace stored an entry of a key that was not held")
	}
	c.Store(hash, entry("a", 5))
	c.Wait()
	c.Replace(hash, entry("other", 9)) // another key of the same hash
	c.Replace(hash, entry("a", 6))
	if got := held(c, "a"); got.AsOf != 6 || got.Key.Code != "a" {
		t.Errorf("got %+v, want a at position 6", got)
	}
}

func TestCountersFillThePowersOfTwoThatTheyTake(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 1, 1 << 20, 1<<20 + 1, 64 << 20, 100_000_000, 256 << 20, 3 << 30} {
		entries := max(size/480, 1000)
		n := counters(size)
		if n < 6*entries || n > 14*entries {
			t.Errorf("%d bytes: got %d counters for %d entries, want near ten for each", size, n, entries)
		}
		room := int64(1) << bits.Len64(uint64(n)) // of counters
		filter := float64(n) * -math.Log(0.01) / (math.Ln2 * math.Ln2)
		if filter > float64(8*room) || filter < 7.99*float64(room) {
			t.Errorf("%d bytes: the filter of %d counters takes %.0f bits, want nearly %d", size, n, filter, 8*room)
		}
	}
}

// parsed is an entry as it comes from another tier, with memory of its own.
func parsed(t *testing.T, i int) *feed.Entry {
	t.Helper()
	e := entry(fmt.Sprintf("c%08x", i), 1)
	e.Target = fmt.Sprintf("https://example.com/somewhere/to/go/%07d?with=a&query=b", i)
	e, err := feed.ParseEntry(e.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The bound is on what the process really holds, not on a sum of estimates. The
// maps double as they grow, so one size says little.
func TestTheByteBoundHolds(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for _, bound := range []int64{8 << 20, 12 << 20, 16 << 20, 24 << 20, 64 << 20} {
		before := heap()
		c := newCache(t, bound)
		entries := int(bound / 400) // more than fit
		for i := range entries {
			e := parsed(t, i)
			c.Store(e.Key.Hash(), e)
			if i%1000 == 0 {
				c.Wait()
			}
		}
		c.Wait()
		held := heap() - before
		t.Logf("%d MiB: holds %.1f MiB", bound>>20, float64(held)/(1<<20))
		if held > bound*102/100 {
			t.Errorf("holds %d KiB, the bound is %d KiB", held>>10, bound>>10)
		}
		if held < bound*3/4 {
			t.Errorf("holds %d KiB, which makes little use of %d KiB", held>>10, bound>>10)
		}
		runtime.KeepAlive(c)
	}
}
