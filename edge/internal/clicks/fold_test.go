package clicks

import (
	"os"
	"path/filepath"
	"testing"

	"waypost/edge/internal/clicks/spool"
	"waypost/shared/click"
)

const smallBudget = 16 << 10

// down is an edge whose origin does not answer, with some clicks on a disk that
// is too small for them.
func down(t *testing.T, o *fakeOrigin, dir string, clock *fakeClock, want sums, clicks int) *edge {
	t.Helper()
	o.fault = func([]byte) (int, error) { return 0, errLost }
	e := startEdge(t, dir, o, clock, small)
	for n := range clicks {
		e.count(want, visit(1, n))
		if n%100 == 0 {
			e.round(t.Context())
		}
	}
	e.round(t.Context())
	return e
}

func small(files *spool.Config, cfg *Config) {
	files.SegmentBytes, cfg.Disk = 2<<10, smallBudget
}

func TestMoreThanTheBudgetIsFoldedAndCountsStill(t *testing.T) {
	t.Parallel()
	o, want, clock := newOrigin(t), make(sums), newClock()
	e := down(t, o, t.TempDir(), clock, want, 3_000)
	e.measure()
	s := e.Stats()
	if s.Folded < 2_000 || s.Disk > 2*smallBudget {
		t.Errorf("got %d clicks folded and %d bytes on disk", s.Folded, s.Disk)
	}
	o.fault = nil
	e.settle(t)
	o.same(t, want)
	if s := e.Stats(); s.Shipped != 3_000 || s.OverBudget || s.Missing != 0 {
		t.Errorf("got %+v", s)
	}
}

func (e *edge) measure() { e.shipper.measure() }

func TestFoldedStretchesAreReadBackAfterARestart(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	for range 3 {
		e := down(t, o, dir, clock, want, 800)
		if e.Stats().Folded == 0 {
			t.Fatal("nothing was folded")
		}
		e.stop()
	}
	o.fault = nil
	startEdge(t, dir, o, clock, small).settle(t)
	o.same(t, want)
	if left, err := filepath.Glob(filepath.Join(dir, "folded", "*")); err != nil || len(left) > 0 {
		t.Errorf("got %v left, %v", left, err)
	}
}

func TestWhatWasSentIsStoredAsItWasSent(t *testing.T) {
	t.Parallel()
	o, clock := newOrigin(t), newClock()
	e := down(t, o, t.TempDir(), clock, make(sums), 1)
	sent := e.shipper.own().sent
	if sent == nil {
		t.Fatal("nothing was sent")
	}
	for n := range 1_000 {
		e.Count(visit(1, n))
	}
	e.round(t.Context())
	stored := e.shipper.own().stored
	if len(stored) < 2 || stored[0].from != sent.from || stored[0].to != sent.to {
		t.Fatalf("got %+v, want %d to %d by itself", stored, sent.from, sent.to)
	}
	got, err := e.shipper.shelf.read(stored[0])
	if err != nil || string(got.Append(nil)) != string(sent.bytes) {
		t.Errorf("got %+v, %v", got, err)
	}
	for i := range stored[1:] {
		if stored[i].to != stored[i+1].from {
			t.Errorf("got %+v, want one to begin where the other ends", stored)
		}
	}
}

func TestEveryEndOfWhatWasSentIsKept(t *testing.T) {
	t.Parallel()
	o, want, clock := newOrigin(t), make(sums), newClock()
	e := startEdge(t, t.TempDir(), o, clock, small)
	e.shipper.least = 0
	for n := range 200 {
		e.count(want, visit(uint64(n), n))
	}
	var sent [][]byte
	o.fault = func(b []byte) (int, error) {
		s, err := click.ParseStretch(b)
		if err != nil {
			t.Fatal(err)
		}
		if s.From == s.To {
			return 1, nil // questions are answered
		}
		sent = append(sent, b)
		return 0, errLost
	}
	for range 8 {
		e.round(t.Context())
	}
	longer := e.shipper.own().longer
	if len(longer) < 2 {
		t.Fatalf("got %d longer ones, want what was sent to become shorter", len(longer))
	}
	for n := range 2_000 {
		e.count(want, visit(uint64(n%9), n))
	}
	e.round(t.Context())
	ends := make(map[uint64]bool)
	for _, p := range e.shipper.own().stored {
		ends[p.to] = true
	}
	for _, b := range sent {
		if s, err := click.ParseStretch(b); err != nil || !ends[s.To] {
			t.Errorf("no stored stretch ends at %d, where one was sent to: %v, %v", s.To, ends, err)
		}
	}
	o.apply(sent[0]) // the longest one arrives after all
	o.fault = nil
	e.settle(t)
	o.same(t, want)
}

func TestAnOldLogIsNotFoldedBeforeTheOriginHasAnswered(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	o.fault = func([]byte) (int, error) { return 1, errLost } // applied, as nobody hears
	e := startEdge(t, dir, o, clock, nil)
	for n := range 1_000 {
		e.count(want, visit(1, n))
		if n == 500 {
			e.round(t.Context())
		}
	}
	e.stop()
	e = startEdge(t, dir, o, clock, small)
	e.round(t.Context())
	if s := e.Stats(); s.Folded != 0 || !s.OverBudget {
		t.Errorf("got %+v, want nothing folded, and the alarm", s)
	}
	o.fault = nil
	e.settle(t)
	o.same(t, want)
}

func TestAnOldLogIsNotFoldedWhileAnEarlierRequestMayStillArrive(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	var late []byte
	o.fault = func(b []byte) (int, error) {
		late = b
		return 0, errLost
	}
	e := startEdge(t, dir, o, clock, nil)
	for n := range 1_000 {
		e.count(want, visit(1, n))
		if n == 500 {
			e.round(t.Context())
		}
	}
	e.stop()
	o.fault = func(b []byte) (int, error) { // the mark is told, and nothing gets through
		s, err := click.ParseStretch(b)
		if err == nil && s.From < s.To {
			err = errLost
		}
		return btoi(err == nil), err
	}
	e = startEdge(t, dir, o, clock, small)
	for range 5 {
		e.round(t.Context())
	}
	o.apply(late)
	if o.applied["link 1"] == 0 {
		t.Fatal("the late request was not applied")
	}
	o.fault = nil
	e.settle(t)
	o.same(t, want)
}

func btoi(is bool) int {
	if is {
		return 1
	}
	return 0
}

func TestFoldedStretchesOfOneLogAreMerged(t *testing.T) {
	t.Parallel()
	o, clock := newOrigin(t), newClock()
	e := down(t, o, t.TempDir(), clock, make(sums), 3_000)
	if got := len(e.shipper.own().stored); got != 2 { // what was sent, and all the rest
		t.Errorf("got %d stored stretches, want 2", got)
	}
}

func TestADamagedStoredStretchIsMissingAndTheRestCounts(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	e := down(t, o, dir, clock, want, 1_000)
	stored := e.shipper.own().stored
	lost, err := e.shipper.shelf.read(stored[1])
	if err != nil {
		t.Fatal(err)
	}
	path := e.shipper.shelf.path(stored[1])
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	o.fault = nil
	e.settle(t)
	if got := o.applied["link 1"]; got != 1_000-lost.Clicks() {
		t.Errorf("got %d clicks, want all but the %d that are damaged", got, lost.Clicks())
	}
	if got := e.Stats().Missing; got != stored[1].to-stored[1].from {
		t.Errorf("got %d bytes missing, want %d", got, stored[1].to-stored[1].from)
	}
}

func TestAMarkWithinAStoredStretchCountsNothingTwice(t *testing.T) {
	t.Parallel()
	o, want, clock := newOrigin(t), make(sums), newClock()
	e := down(t, o, t.TempDir(), clock, want, 1_000)
	stored := e.shipper.own().stored
	o.marks[e.shipper.own().boot] = stored[1].from + 8
	o.fault = nil
	e.settle(t)
	if got := o.applied["link 1"]; got > 1_000-stored[0].clicks-stored[1].clicks || e.Stats().Missing == 0 {
		t.Errorf("got %d clicks and %+v", got, e.Stats())
	}
}

func TestAFullDiskKeepsTheLogs(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	o.fault = func([]byte) (int, error) { return 0, errLost }
	e := startEdge(t, dir, o, clock, small)
	// A file where the folder should be stands for a disk that takes nothing.
	if err := os.WriteFile(filepath.Join(dir, "folded"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for n := range 1_000 {
		e.count(want, visit(1, n))
	}
	for range 3 {
		e.round(t.Context())
	}
	if s := e.Stats(); s.Folded != 0 || !s.OverBudget {
		t.Errorf("got %+v, want the alarm", s)
	}
	o.fault = nil
	e.settle(t)
	o.same(t, want)
}

func TestStoredStretchesAreListedByBoot(t *testing.T) {
	t.Parallel()
	s := shelf{dir: filepath.Join(t.TempDir(), "deep", "folded")}
	if found, err := s.list(); err != nil || len(found) != 0 {
		t.Errorf("no folder: got %v, %v", found, err)
	}
	put := func(boot string, from, to uint64) stored {
		stretch := click.Stretch{Boot: boot, Region: "eu", From: from, To: to}
		p, err := s.put(stored{boot: boot, from: from, to: to}, stretch.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first, short, long, other := put("b.1", 0, 10), put("b.1", 10, 20), put("b.1", 10, 30), put("c", 5, 9)
	for _, name := range []string{"b.1.0.10.stretch", "x", "d.0000000000000001.0000000000000001.stretch", "e.stretch.tmp"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := s.list()
	if err != nil || len(found) != 2 || len(found["b.1"]) != 2 || len(found["c"]) != 1 {
		t.Fatalf("got %+v, %v", found, err)
	}
	for i, want := range []stored{first, long, other} {
		got := append(found["b.1"], found["c"]...)[i]
		if got.from != want.from || got.to != want.to || got.bytes != want.bytes || !got.pinned {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if _, err := os.Stat(s.path(short)); !os.IsNotExist(err) {
		t.Errorf("the shorter of two is there still: %v", err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "e.stretch.tmp")); !os.IsNotExist(err) {
		t.Errorf("a file that was never complete is there still: %v", err)
	}
	if _, err := s.read(stored{boot: "b.1", from: 0, to: 11}); err == nil {
		t.Error("read what is not there")
	}
}

func TestAStoredStretchUnderAnotherNameIsDamaged(t *testing.T) {
	t.Parallel()
	s := shelf{dir: t.TempDir()}
	stretch := click.Stretch{Boot: "b", To: 10}
	p, err := s.put(stored{boot: "b", to: 10}, stretch.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	other := p
	other.to = 11
	if err := os.Rename(s.path(p), s.path(other)); err != nil {
		t.Fatal(err)
	}
	if got, err := s.read(other); err == nil {
		t.Errorf("got %+v", got)
	}
}
