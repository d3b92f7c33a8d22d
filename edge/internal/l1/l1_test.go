package l1

import (
	"runtime"
	"strconv"
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

func TestANewerEntryStays(t *testing.T) {
	t.Parallel()
	c := newCache(t, 1<<20)
	hash := link.Key{Code: "a"}.Hash()
	if c.Entry(hash) != nil {
		t.Fatal("an empty cache holds something")
	}
	c.Store(hash, entry("a", 5))
	c.Wait()
	for _, asof := range []uint64{4, 7, 6} {
		c.Store(hash, entry("a", asof))
	}
	if got := c.Entry(hash).AsOf; got != 7 {
		t.Errorf("got position %d, want 7", got)
	}
}

func TestReplaceIsForWhatIsHeld(t *testing.T) {
	t.Parallel()
	c := newCache(t, 1<<20)
	hash := link.Key{Code: "a"}.Hash()
	c.Replace(hash, entry("a", 5))
	c.Wait()
	if c.Entry(hash) != nil {
		t.Error("Replace stored an entry of a key that was not held")
	}
	c.Store(hash, entry("a", 5))
	c.Wait()
	c.Replace(hash, entry("other", 9)) // another key of the same hash
	c.Replace(hash, entry("a", 6))
	if got := c.Entry(hash); got.AsOf != 6 || got.Key.Code != "a" {
		t.Errorf("got %+v, want a at position 6", got)
	}
}

// The bound is on what the process really holds, not on a sum of estimates.
func TestTheByteBoundHolds(t *testing.T) {
	const bound = 8 << 20
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	c := newCache(t, bound)
	for i := range 100_000 {
		code := "code" + strconv.Itoa(i)
		c.Store(link.Key{Code: code}.Hash(), entry(code, 1))
		if i%1000 == 0 {
			c.Wait()
		}
	}
	c.Wait()
	held := heap() - before
	if held > bound*11/10 {
		t.Errorf("holds %d MiB, the bound is %d MiB", held>>20, bound>>20)
	}
	if held < bound/2 {
		t.Errorf("holds %d MiB, which makes little use of %d MiB", held>>20, bound>>20)
	}
	runtime.KeepAlive(c)
}
