package feed

import (
	"runtime"
	"strings"
	"testing"

	"waypost/shared/link"
)

func TestAParsedEntryKeepsNothingOfItsInput(t *testing.T) {
	t.Parallel()
	want := liveEntry()
	b := want.Append(nil)
	got, err := ParseEntry(b)
	if err != nil {
		t.Fatal(err)
	}
	clear(b)
	if *got != *want {
		t.Errorf("after its input was overwritten: got %+v, want %+v", *got, *want)
	}
}

// What is counted for an entry is what the heap has for it, whatever the length of its strings.
func TestSizeIsWhatAnEntryHolds(t *testing.T) {
	const n = 10_000
	for _, length := range []int{20, 60, 100, 250, 1000, 3000} {
		e := &Entry{Epoch: 1, AsOf: 1, Key: link.Key{Domain: "go.example", Code: "code"}, Body: Body{State: Enabled, Status: 302, Target: strings.Repeat("t", length)}}
		b := e.Append(nil)
		c := Change{Epoch: 1, Seq: 1, Kind: Create, Key: e.Key, Value: string(e.Body.Append(nil))}
		for name, next := range map[string]func() (*Entry, error){
			"parsed":      func() (*Entry, error) { return ParseEntry(b) },
			"of a change": func() (*Entry, error) { e, _, err := c.Entry(); return e, err },
		} {
			all := [n]*Entry{}
			before := heap()
			for i := range all {
				var err error
				if all[i], err = next(); err != nil {
					t.Fatal(err)
				}
			}
			held, size := (heap()-before)/n, int64(all[0].Size())
			if held > size*108/100 || held < size*85/100 {
				t.Errorf("%s, target of %d bytes: holds %d bytes, Size is %d", name, length, held, size)
			}
			runtime.KeepAlive(&all)
		}
	}
}

// heap is what is live on it, in bytes.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
