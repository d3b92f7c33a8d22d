package clicks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"waypost/edge/internal/clicks/spool"
	"waypost/shared/click"
)

// poison is the link whose clicks an origin refuses.
const poison = 666

// poisoned says that a stretch has clicks of it.
func poisoned(t *testing.T, stretch []byte) bool {
	t.Helper()
	s, err := click.ParseStretch(stretch)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Links {
		if s.Links[i].Link == poison {
			return true
		}
	}
	return false
}

// refusePoison makes the origin take all but that.
func (o *fakeOrigin) refusePoison() {
	o.fault = func(stretch []byte) (int, error) {
		if poisoned(o.t, stretch) {
			return 0, fmt.Errorf("no such link: %w", click.ErrRefused)
		}
		return 1, nil
	}
}

// inQuarantine lists the names of files, by how they end.
func inQuarantine(t *testing.T, dir, suffix string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "quarantine", "*"+suffix))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// bringBack does what an operator does with all that was refused, between two
// processes.
func bringBack(t *testing.T, dir string) (files int) {
	t.Helper()
	found := inQuarantine(t, dir, storedSuffix)
	if err := os.MkdirAll(filepath.Join(dir, "folded"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		if err := os.Rename(path, filepath.Join(dir, "folded", filepath.Base(path))); err != nil {
			t.Fatal(err)
		}
	}
	return len(found)
}

// without are the counts of all links but one.
func without(want sums, link uint64) sums {
	rest := make(sums)
	for key, n := range want {
		if key != fmt.Sprint("link ", link) && !strings.HasPrefix(key, fmt.Sprint("link ", link, " ")) {
			rest[key] = n
		}
	}
	return rest
}

func TestARefusedClickIsTakenOutOfItsLogAndBroughtBack(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	o.refusePoison()
	e := startEdge(t, dir, o, clock, nil)
	for n := range 1_000 {
		link := uint64(n % 5)
		if n == 400 {
			link = poison
		}
		e.count(want, visit(link, n))
	}
	e.settle(t)
	o.same(t, without(want, poison))
	s := e.Stats()
	if s.Refused != 1 || s.Shipped != 999 || s.Missing != 0 || s.Quarantined != 1 || s.QuarantineBytes == 0 {
		t.Errorf("got %+v, want one click refused and in quarantine", s)
	}
	e.stop()

	// Where its time has not come it goes back to where it was.
	if n := bringBack(t, dir); n != 1 {
		t.Fatalf("got %d files in quarantine, want 1", n)
	}
	e = startEdge(t, dir, o, clock, nil)
	for range 60 {
		e.round(t.Context())
	}
	if s := e.Stats(); s.Refused != 1 || s.Quarantined != 1 {
		t.Errorf("refused a second time: got %+v", s)
	}
	e.stop()

	o.fault = nil
	if n := bringBack(t, dir); n != 1 {
		t.Fatalf("got %d files in quarantine, want 1", n)
	}
	e = startEdge(t, dir, o, clock, nil)
	e.settle(t)
	o.same(t, want)
	if s := e.Stats(); s.Quarantined != 0 || s.Refused != 0 {
		t.Errorf("got %+v, want nothing in quarantine", s)
	}
}

func TestARefusedStretchThatIsStoredGoesAsAWhole(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	o.fault = func([]byte) (int, error) { return 0, errLost }
	e := startEdge(t, dir, o, clock, small)
	for n := range 1_500 {
		link := uint64(1)
		if n == 700 {
			link = poison
		}
		e.count(want, visit(link, n))
		if n%100 == 0 {
			e.round(t.Context())
		}
	}
	e.round(t.Context())
	if len(e.shipper.own().stored) < 2 {
		t.Fatalf("got %d stored stretches", len(e.shipper.own().stored))
	}
	o.refusePoison()
	e.settle(t)
	s := e.Stats()
	if s.Refused == 0 || s.Refused == 1_500 || s.Shipped+s.Refused != 1_500 || o.applied["link 1"] != s.Shipped || s.Missing != 0 {
		t.Errorf("got %+v and %d counted, want the stretch of one click refused", s, o.applied["link 1"])
	}
	e.stop()
	o.fault = nil
	bringBack(t, dir)
	startEdge(t, dir, o, clock, nil).settle(t)
	o.same(t, want)
}

func TestARefusedStretchOfMemoryGoesIntoQuarantine(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	o.refusePoison()
	e := startEdge(t, dir, o, clock, func(files *spool.Config, _ *Config) { files.BufferBytes = 1 })
	e.stop() // a spool that has stopped refuses
	refused := make(sums)
	e.count(refused, visit(poison, 1))
	e.count(refused, visit(2, 1))
	for range 4 {
		e.round(t.Context())
	}
	for n := range 10 {
		e.count(want, visit(3, n))
	}
	e.settle(t)
	o.same(t, want)
	if s := e.Stats(); s.Refused != 2 || s.Lost != 0 || s.Shipped != 10 || s.Quarantined != 1 {
		t.Errorf("got %+v, want the two of one stretch refused", s)
	}
	o.fault = nil
	bringBack(t, dir)
	startEdge(t, dir, o, clock, nil).settle(t)
	for key, n := range refused {
		want[key] += n
	}
	o.same(t, want)
}

func TestWithoutAFolderARefusedStretchOfMemoryIsLost(t *testing.T) {
	t.Parallel()
	o, clock := newOrigin(t), newClock()
	o.refusePoison()
	c := New(Config{Origin: o, Region: "eu", Clock: func() int64 { return 0 }, now: clock.now})
	e := &edge{Counter: c, clock: clock}
	e.Count(visit(poison, 1))
	for range 4 {
		e.round(t.Context())
	}
	e.Count(visit(2, 1))
	for range 4 {
		e.round(t.Context())
	}
	if s := e.Stats(); s.Lost != 1 || s.InMemory != 0 || o.applied["link 2"] != 1 {
		t.Errorf("got %+v and %v, want the refused one lost and the other counted", s, o.applied)
	}
}

func TestWhatMayStillArriveIsNotTakenOut(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	var late []byte
	o.fault = func(stretch []byte) (int, error) {
		late = stretch
		return 0, errLost
	}
	e := startEdge(t, dir, o, clock, nil)
	e.count(want, visit(poison, 1))
	e.round(t.Context())
	sent := clock.at
	o.refusePoison()
	for clock.at.Sub(sent) < late1 {
		e.round(t.Context())
	}
	if s := e.Stats(); s.Refused != 0 || len(inQuarantine(t, dir, "")) != 0 {
		t.Errorf("got %+v and %v in quarantine while a send may arrive", s, inQuarantine(t, dir, ""))
	}
	o.apply(late) // by another origin, which took its time
	e.settle(t)
	o.same(t, want)
	if s := e.Stats(); s.Shipped != 1 || s.Refused != 0 {
		t.Errorf("got %+v", s)
	}
}

// late1 is a little less than late, since rounds take seconds.
const late1 = late - late/6

func TestAnOriginThatRefusesEverythingEmptiesNoLog(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	o.fault = func([]byte) (int, error) { return 0, click.ErrRefused } // another server has its address
	e := startEdge(t, dir, o, clock, nil)
	for n := range 100 {
		e.count(want, visit(1, n))
	}
	for range 60 {
		e.round(t.Context())
	}
	if s := e.Stats(); s.Refused != 0 || s.BehindSize == 0 || len(inQuarantine(t, dir, "")) != 0 {
		t.Errorf("got %+v and %v in quarantine", s, inQuarantine(t, dir, ""))
	}
	o.fault = nil
	e.settle(t)
	o.same(t, want)
}

func TestAStretchOfNothingIsNotTakenOut(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	o.fault = func(stretch []byte) (int, error) {
		if s, err := click.ParseStretch(stretch); err != nil || s.From < s.To {
			return 0, errors.Join(err, click.ErrRefused)
		}
		return 1, nil
	}
	e := startEdge(t, dir, o, clock, nil)
	e.Cancel(e.Count(visit(1, 1)), visit(1, 1))
	for range 20 {
		e.round(t.Context())
	}
	if found := inQuarantine(t, dir, ""); len(found) != 0 {
		t.Errorf("got %v in quarantine", found)
	}
	o.fault = nil
	e.count(want, visit(2, 1))
	e.settle(t)
	o.same(t, want)
}

// holding is an edge of 1,000 clicks of which the hundred from the 300th on are
// held, as a process finds it that goes on from a mark far before them.
func holding(t *testing.T, o *fakeOrigin, change func(*spool.Config, *Config)) *edge {
	t.Helper()
	o.fault = func([]byte) (int, error) { return 0, errLost }
	e := startEdge(t, t.TempDir(), o, newClock(), change)
	var at []uint64
	for n := range 1_000 {
		at = append(at, e.Count(visit(1, n)))
	}
	own := e.shipper.own()
	own.held = &stored{boot: own.boot, from: at[300], to: at[400]}
	return e
}

func TestWhatIsHeldIsPassedWhereverTheMarkIs(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	e := holding(t, o, nil)
	o.fault = nil
	e.settle(t)
	if got := o.applied["link 1"]; got != 900 || e.Stats().Shipped != 900 {
		t.Errorf("got %d clicks, %d shipped, want 900", got, e.Stats().Shipped)
	}
}

func TestNothingIsStoredAcrossTheEndsOfWhatIsHeld(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	e := holding(t, o, small)
	held := *e.shipper.own().held
	for range 5 {
		e.round(t.Context())
	}
	stored := e.shipper.own().stored
	if len(stored) < 3 {
		t.Fatalf("got %d stored stretches, want those before, of and after what is held", len(stored))
	}
	for _, p := range stored {
		for _, end := range [...]uint64{held.from, held.to} {
			if p.from < end && end < p.to {
				t.Errorf("got one from %d to %d, across %d", p.from, p.to, end)
			}
		}
	}
	o.fault = nil
	e.settle(t)
	if got := o.applied["link 1"]; got != 900 || e.Stats().Shipped != 900 {
		t.Errorf("got %d clicks, %d shipped, want 900", got, e.Stats().Shipped)
	}
}

// TestADecisionOutlivesItsProcess ends the process when a stretch is in
// quarantine and the mark has not passed it yet: the next one sends nothing of
// it, though the origin would take it by now.
func TestADecisionOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	o.fault = func(stretch []byte) (int, error) {
		if s, err := click.ParseStretch(stretch); err != nil || s.From < s.To {
			return 0, errors.Join(err, click.ErrRefused)
		}
		return 1, nil
	}
	e := startEdge(t, dir, o, clock, nil)
	e.count(want, visit(1, 1))
	for range 10 {
		e.round(t.Context())
	}
	if held := inQuarantine(t, dir, heldSuffix); len(held) != 1 || len(inQuarantine(t, dir, storedSuffix)) != 0 {
		t.Fatalf("got %v in quarantine, want one that is held", inQuarantine(t, dir, ""))
	}
	e.count(want, visit(2, 2))
	e.stop()
	o.fault = nil
	e = startEdge(t, dir, o, clock, small)
	e.settle(t)
	o.same(t, without(want, 1))
	if len(inQuarantine(t, dir, heldSuffix)) != 0 {
		t.Errorf("got %v in quarantine, want none that is held", inQuarantine(t, dir, ""))
	}
	e.stop()
	if n := bringBack(t, dir); n != 1 {
		t.Fatalf("got %d files to bring back, want 1", n)
	}
	startEdge(t, dir, o, clock, nil).settle(t)
	o.same(t, want)
}

func TestAQuarantineWithoutRoomKeepsTheLogAndNoOtherWaiting(t *testing.T) {
	t.Parallel()
	o, dir, clock := newOrigin(t), t.TempDir(), newClock()
	o.refusePoison()
	e := startEdge(t, dir, o, clock, nil)
	e.Count(visit(poison, 1))
	e.stop()
	e = startEdge(t, dir, o, clock, nil)
	e.shipper.quarantine.most = 0
	e.Count(visit(2, 1))
	for range 40 {
		e.round(t.Context())
	}
	if s := e.Stats(); s.Refused != 0 || s.Quarantined != 0 || len(e.shipper.sources) != 2 || o.applied["link 2"] != 1 {
		t.Errorf("got %+v, %d logs and %v, want the refused log to wait alone", s, len(e.shipper.sources), o.applied)
	}
	e.shipper.quarantine.most = 1 << 20
	e.settle(t)
	if s := e.Stats(); s.Refused != 1 {
		t.Errorf("with room: got %+v, want it refused", s)
	}
}

func TestAQuarantineWithoutRoomAsksTheOriginAgain(t *testing.T) {
	t.Parallel()
	o, want, clock := newOrigin(t), make(sums), newClock()
	o.refusePoison()
	e := startEdge(t, t.TempDir(), o, clock, nil)
	e.shipper.quarantine.most = 0
	e.count(want, visit(poison, 1))
	for range 20 {
		e.round(t.Context())
	}
	o.fault = nil
	e.settle(t)
	o.same(t, want)
	if s := e.Stats(); s.Refused != 0 || s.Shipped != 1 {
		t.Errorf("got %+v, want it counted", s)
	}
}
