package postgres_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/shared/link"
)

func TestMachineIDsAreLeasedToOneHolderEach(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var mu sync.Mutex
	holders := make(map[int]int)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for range 128 {
				id, from, until, err := s.LeaseMachine(t.Context(), string(rune('a'+g)), -1, time.Hour)
				if err != nil || id < 0 || id > 1023 || until.Sub(from) != time.Hour {
					t.Errorf("LeaseMachine = %d, %v, %v, %v", id, from, until, err)
					return
				}
				mu.Lock()
				holders[id]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(holders) != 1024 {
		t.Errorf("%d different machine ids for 1,024 leases", len(holders))
	}
	if id, _, _, err := s.LeaseMachine(t.Context(), "late", -1, time.Hour); !errors.Is(err, link.ErrUnavailable) {
		t.Errorf("one more lease: %d, %v, want ErrUnavailable", id, err)
	}
}

func TestALeaseEndsAtItsTimeOnly(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	_, from, until, err := s.LeaseMachine(t.Context(), "a", 5, time.Hour)
	if err != nil {
		t.Fatalf("LeaseMachine: %v", err)
	}
	later, err := s.RenewMachine(t.Context(), 5, "a", 2*time.Hour)
	if err != nil || !later.After(until) {
		t.Errorf("RenewMachine = %v, %v, want after %v", later, err, until)
	}
	if same, err := s.RenewMachine(t.Context(), 5, "a", time.Minute); err != nil || !same.Equal(later) {
		t.Errorf("RenewMachine with less = %v, %v, want %v: a lease is never cut short", same, err, later)
	}
	if _, err := s.RenewMachine(t.Context(), 5, "b", time.Hour); err == nil {
		t.Error("another holder renewed the lease")
	}
	release := func(holder string) {
		t.Helper()
		if err := s.ReleaseMachine(t.Context(), 5, holder, from); err != nil {
			t.Errorf("ReleaseMachine: %v", err)
		}
	}
	release("b")
	if _, _, _, err := s.LeaseMachine(t.Context(), "b", 5, time.Hour); err == nil || errors.Is(err, link.ErrUnavailable) {
		t.Errorf("lease of a held id: %v, want a refusal", err)
	}
	release("a")
	if _, err := s.RenewMachine(t.Context(), 5, "a", time.Hour); err == nil {
		t.Error("a released lease was renewed")
	}
	if _, again, _, err := s.LeaseMachine(t.Context(), "b", 5, time.Hour); err != nil || !again.After(from) {
		t.Errorf("lease of a released id: from %v, %v, want after %v", again, err, from)
	}
}

func TestAHolderGetsItsFixedMachineIDAgain(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	_, from, _, err := s.LeaseMachine(t.Context(), "a", 5, time.Hour)
	if err != nil {
		t.Fatalf("LeaseMachine: %v", err)
	}
	// The answer of the first was lost: the process knows of no lease.
	if _, again, until, err := s.LeaseMachine(t.Context(), "a", 5, time.Hour); err != nil || !again.After(from) || !until.After(again) {
		t.Errorf("LeaseMachine again = from %v until %v, %v, want a lease after %v", again, until, err, from)
	}
	// Or it is still on its way.
	tx, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	if _, err := tx.Exec(t.Context(), `UPDATE machine_lease SET expires_at = now() + interval '1 hour' WHERE machine = 5`); err != nil {
		t.Fatalf("update: %v", err)
	}
	leased := make(chan error, 1)
	go func() {
		_, _, _, err := s.LeaseMachine(t.Context(), "a", 5, time.Hour)
		leased <- err
	}()
	awaitLocks(t, url, 1)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatalf("commit: %v", err)
	}
	if err := <-leased; err != nil {
		t.Errorf("LeaseMachine during another of the same holder: %v", err)
	}
	if _, _, _, err := s.LeaseMachine(t.Context(), "b", 5, time.Hour); err == nil || errors.Is(err, link.ErrUnavailable) {
		t.Errorf("lease of a held id by another: %v, want a refusal", err)
	}
}

func TestCounterNumbersStartAtTheirOffset(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for want := uint64(100_001); want < 100_004; want++ {
		if got, err := s.NextCounter(t.Context()); err != nil || got != want {
			t.Errorf("NextCounter = %d, %v, want %d", got, err, want)
		}
	}
}
