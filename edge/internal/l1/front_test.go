package l1

import (
	"fmt"
	"sync"
	"testing"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// inFront is what stands at a code's place.
func inFront(c *Cache, code string) *feed.Entry {
	return c.front.at(link.Key{Code: code}.Hash()).entry.Load()
}

// put has an entry stand in front that the cache does not hold.
func put(c *Cache, e *feed.Entry) {
	hash := e.Key.Hash()
	c.front.at(hash).put(hash, e)
}

func TestWhatIsAskedForStandsInFront(t *testing.T) {
	t.Parallel()
	c := newCache(t, 1<<20)
	e := entry("a", 5)
	c.Store(e.Key.Hash(), e)
	c.Wait()
	if got := inFront(c, "a"); got != nil {
		t.Errorf("before it was asked for: got %+v in front, want nothing", got)
	}
	for range 10 * countOne {
		if got := held(c, "a"); got != e {
			t.Fatalf("got %p, want %p", got, e)
		}
	}
	if got := inFront(c, "a"); got != e {
		t.Errorf("got %p in front, want %p", got, e)
	}
}

func TestANewerEntryIsFoundAtOnceByAllWhoFoundTheOlder(t *testing.T) {
	t.Parallel()
	c := newCache(t, 1<<20)
	for asof := range uint64(100) {
		e := entry("a", asof+1)
		c.Store(e.Key.Hash(), e)
		if asof == 0 {
			c.Wait()
		}
		for range 3 {
			if got := held(c, "a"); got != e {
				t.Fatalf("got %+v, want position %d", got, e.AsOf)
			}
		}
	}
}

func TestWhatTheCacheForgetsDoesNotStayInFront(t *testing.T) {
	t.Parallel()
	c := newCache(t, 100<<10)
	const codes = 5000
	code := func(i int) string { return fmt.Sprintf("c%d", i) }
	for i := range codes {
		e := entry(code(i), 1)
		c.Store(e.Key.Hash(), e)
		if i%100 == 0 {
			c.Wait()
		}
		for range 4 * putOne {
			held(c, code(i))
		}
	}
	c.Wait()
	found := 0
	for i := range codes {
		e, ok := c.c.Get(link.Key{Code: code(i)}.Hash())
		if front := inFront(c, code(i)); ok {
			found++
		} else if front != nil && front.Key.Code == code(i) {
			t.Errorf("%s is not held and stands in front, %+v", code(i), e)
		}
	}
	if found == 0 || found > codes/5 {
		t.Errorf("got %d of %d held, want some and few", found, codes)
	}
}

func TestKeysThatShareAPlaceAreToldApart(t *testing.T) {
	t.Parallel()
	c := newCache(t, 1) // one place
	if n := len(c.front.places); n != 1 {
		t.Fatalf("got %d places, want 1", n)
	}
	put(c, entry("a", 1))
	if got := held(c, "b"); got != nil {
		t.Errorf("got %+v, want nothing", got)
	}
	c.front.at(0).hash.Store(link.Key{Code: "b"}.Hash()) // as where two are put at once
	if got := held(c, "b"); got != nil {
		t.Errorf("by another's hash: got %+v, want nothing", got)
	}
	if got := c.Entry("example.com", []byte("a"), link.Key{Domain: "example.com", Code: "a"}.Hash()); got != nil {
		t.Errorf("of another domain: got %+v, want nothing", got)
	}
}

// An entry that left the cache as it was put in front is gone as soon as its key is counted again.
func TestAnEntryLeftBehindInFrontIsFoundOut(t *testing.T) {
	t.Parallel()
	c := newCache(t, 1<<20)
	left := entry("a", 1)
	put(c, left)
	for i := 0; held(c, "a") != nil; i++ {
		if i > 1000*countOne {
			t.Fatal("still found")
		}
	}
	if got := inFront(c, "a"); got != nil {
		t.Errorf("got %+v in front, want nothing", got)
	}
}

func TestManyMayAskWhileEntriesChange(t *testing.T) {
	t.Parallel()
	c := newCache(t, 100<<10)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range uint64(20_000) {
				code := fmt.Sprintf("c%d", i%300)
				if e := held(c, code); e != nil && e.Key.Code != code {
					t.Errorf("got %+v, want %s", e, code)
				}
				e := entry(code, i)
				c.Store(e.Key.Hash(), e)
			}
		})
	}
	all.Wait()
}

func BenchmarkHit(b *testing.B) {
	for _, codes := range []int{1, 5000, 100_000} {
		b.Run(fmt.Sprintf("codes=%d", codes), func(b *testing.B) {
			c, err := New(256 << 20)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			type ask struct {
				code []byte
				hash uint64
			}
			var asks []ask
			for i := range codes {
				e := entry(fmt.Sprintf("c%08x", i), 1)
				c.Store(e.Key.Hash(), e)
				asks = append(asks, ask{[]byte(e.Key.Code), e.Key.Hash()})
				if i%100 == 0 {
					c.Wait()
				}
			}
			c.Wait()
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				a := &asks[i*7919%codes]
				c.Entry("", a.code, a.hash)
			}
		})
	}
}
