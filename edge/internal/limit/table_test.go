package limit

import (
	"encoding/binary"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// network is the n-th of the /64s that somebody has plenty of.
func network(n int) Client {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], 0x2001_0db8<<32|uint64(n))
	return ClientOf(netip.AddrFrom16(b))
}

func TestTableSizeIsWhatIsStated(t *testing.T) {
	t.Parallel()
	if got := unsafe.Sizeof(set{}); got != 24*slotsPerSet {
		t.Errorf("bytes of a set: got %d, want 24 a client", got)
	}
	for clients, want := range map[int]int{1: 8, 8: 8, 9: 16, 1000: 1024, DefaultTable: DefaultTable} {
		if got := len(newTable(clients).sets) * slotsPerSet; got != want {
			t.Errorf("slots for %d clients: got %d, want %d", clients, got, want)
		}
	}
}

func TestIdleBucketsAreReclaimedFirst(t *testing.T) {
	t.Parallel()
	var h hand
	l := mustNew(t, Config{Rate: 1, Burst: 10, Table: slotsPerSet, Clock: h.clock})
	if got := admitted(t, l, visitor, 20); got != 10 {
		t.Fatalf("admitted: got %d, want the burst of 10", got)
	}
	for n := range 100 * slotsPerSet {
		if got := admitted(t, l, network(n), 1); got != 1 {
			t.Fatalf("newcomer %d: got refused, want admitted", n)
		}
		// The newcomer is idle a second later, which is the visitor's one token.
		h.advance(time.Second)
		if got := admitted(t, l, visitor, 2); got != 1 {
			t.Fatalf("visitor after newcomer %d: admitted %d, want 1", n, got)
		}
	}
}

func TestFloodOfClientsBuysNoFreshBucket(t *testing.T) {
	t.Parallel()
	const burst = 100
	var h hand
	l := mustNew(t, Config{Rate: 1, Burst: burst, Table: slotsPerSet, Clock: h.clock})
	heavy := admitted(t, l, visitor, 2*burst)
	if heavy != burst {
		t.Fatalf("admitted: got %d, want the burst of %d", heavy, burst)
	}
	others := 0
	for n := range 4 * slotsPerSet * burst {
		others += admitted(t, l, network(n), 1)
		heavy += admitted(t, l, visitor, 1)
	}
	if heavy != burst {
		t.Errorf("the client that was held back: admitted %d, want no more than %d", heavy, burst)
	}
	if want := (slotsPerSet - 1) * burst; others != want {
		t.Errorf("the others: admitted %d, want %d, all that seven slots hold", others, want)
	}
	if got := l.Stats().TakenOver; got == 0 {
		t.Error("TakenOver: got 0, want some")
	}
}

func TestRequestsOfANewClientShareOneSlot(t *testing.T) {
	t.Parallel()
	const clients, callers, burst = 100, 8, 5
	var h hand
	l := mustNew(t, Config{Rate: 1, Burst: burst, Table: 64 * clients, Clock: h.clock})
	for n := range clients {
		// The callers find no slot and meet where one is given away.
		set := l.table.set(network(n).id())
		set.claiming.Lock()
		var wg sync.WaitGroup
		var arrived atomic.Int32
		for range callers {
			wg.Go(func() {
				arrived.Add(1)
				admitted(t, l, network(n), 1)
			})
		}
		for arrived.Load() < callers {
			runtime.Gosched()
		}
		set.claiming.Unlock()
		wg.Wait()
	}
	if got, want := l.Stats().Admitted, uint64(clients*burst); got != want {
		t.Errorf("admitted: got %d, want %d for each of %d clients", got, burst, clients)
	}
	slots := map[uint64]int{}
	for i := range l.table.sets {
		for j := range l.table.sets[i].slots {
			if id := l.table.sets[i].slots[j].id.Load(); id != 0 {
				slots[id]++
			}
		}
	}
	for n := range clients {
		if got := slots[uint64(network(n).id())]; got != 1 {
			t.Fatalf("slots of client %d: got %d, want 1", n, got)
		}
	}
}
