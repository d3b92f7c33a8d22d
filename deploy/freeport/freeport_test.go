package freeport

import (
	"net"
	"sync"
	"testing"
)

func TestNoPortIsGivenTwice(t *testing.T) {
	const askers, each = 8, 100
	var mu sync.Mutex
	given := map[string]bool{}
	var wg sync.WaitGroup
	for range askers {
		wg.Go(func() {
			for range each {
				addr, err := Find(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if given[addr] {
					t.Errorf("%s was given twice", addr)
				}
				given[addr] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestAPortThatIsClaimedOrListenedOnIsNotFree(t *testing.T) {
	addr, err := Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if Claim(t.Context(), addr) {
		t.Errorf("%s: claimed twice", addr)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it was for its port
	if Claim(t.Context(), l.Addr().String()) {
		t.Errorf("%s: claimed although somebody listens", l.Addr())
	}
}

func TestAServerCanListenOnAPortThatIsFree(t *testing.T) {
	addr, err := Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // and again, as after a restart
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
