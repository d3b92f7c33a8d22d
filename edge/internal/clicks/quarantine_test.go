package clicks

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"waypost/edge/internal/clicks/spool"
	"waypost/shared/click"
)

// lines is a log that a test reads.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) has(what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.b.String(), what)
}

func (l *lines) into(_ *spool.Config, cfg *Config) {
	cfg.Logger = slog.New(slog.NewTextHandler(l, nil))
}

func TestAFolderThatCannotBeReadIsPutAwayAndTheEdgeStarts(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	folded := filepath.Join(dir, "folded")
	if err := os.WriteFile(folded, []byte("was a folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	told := &lines{}
	e := startEdge(t, dir, o, clock, told.into)
	e.count(want, visit(1, 1))
	e.settle(t)
	o.same(t, want)
	if b, err := os.ReadFile(filepath.Join(dir, "quarantine", "folded"+asideSuffix)); err != nil || string(b) != "was a folder" {
		t.Errorf("got %q, %v, want it as it was", b, err)
	}
	if s := e.Stats(); s.Quarantined != 1 || !told.has("quarantine") {
		t.Errorf("got %+v, want one file in quarantine, and told", s)
	}
	e.stop()
	// And once more, under a name of its own; folding works again.
	if err := os.WriteFile(folded, []byte("another one"), 0o600); err != nil {
		t.Fatal(err)
	}
	e = down(t, o, dir, clock, want, 1_000)
	if s := e.Stats(); s.Quarantined != 2 || s.Folded == 0 {
		t.Errorf("got %+v, want two files in quarantine, and clicks folded", s)
	}
	o.fault = nil
	e.settle(t)
	o.same(t, want)
}

// TestAFolderThatCannotEvenBeMovedKeepsOlderLogsWaiting has a folder that is not
// there for one start, as on a disk that was mounted too late.
func TestAFolderThatCannotEvenBeMovedKeepsOlderLogsWaiting(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	down(t, o, dir, clock, want, 1_000).stop()
	o.fault = nil
	folded, quarantine := filepath.Join(dir, "folded"), filepath.Join(dir, "quarantine")
	err := errors.Join(os.Rename(folded, folded+".later"), os.WriteFile(folded, nil, 0o600), os.WriteFile(quarantine, nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	told := &lines{}
	e := startEdge(t, dir, o, clock, told.into)
	before := len(o.bodies)
	now := make(sums)
	e.count(now, visit(2, 1))
	want.click(visit(2, 1), "eu")
	e.settle(t)
	o.same(t, now)
	for _, b := range o.bodies[before:] {
		if s, err := click.ParseStretch(b); err != nil || s.Boot != e.shipper.own().boot {
			t.Errorf("got a stretch of %s, %v, want of the own log alone", s.Boot, err)
		}
	}
	if !told.has("wait for another start") {
		t.Error("it was not told")
	}
	e.stop()
	if err := errors.Join(os.Remove(folded), os.Remove(quarantine), os.Rename(folded+".later", folded)); err != nil {
		t.Fatal(err)
	}
	startEdge(t, dir, o, clock, nil).settle(t)
	o.same(t, want)
}

func TestADamagedStoredStretchIsKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage  func(path string) error
		restart bool
		rounds  int    // after which the log has gone on
		known   bool   // how many clicks there were
		wantEnd string // of the file's name
	}{
		"another byte":          {damage: flip, rounds: 20, known: true, wantEnd: ".stretch" + asideSuffix},
		"found at a start":      {damage: flip, restart: true, rounds: 20, wantEnd: ".stretch" + asideSuffix},
		"empty":                 {damage: func(path string) error { return os.Truncate(path, 0) }, rounds: 20, known: true, wantEnd: asideSuffix},
		"not readable":          {damage: instead, rounds: 30, known: true, wantEnd: asideSuffix},
		"not a file at a start": {damage: instead, restart: true, rounds: 20, wantEnd: asideSuffix},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
			e := down(t, o, dir, clock, want, 1_000)
			stored := e.shipper.own().stored[1]
			lost := stored.clicks
			if err := c.damage(e.shipper.shelf.path(stored)); err != nil {
				t.Fatal(err)
			}
			if c.restart {
				e.stop()
				e = startEdge(t, dir, o, clock, small)
			}
			o.fault = nil
			for range c.rounds {
				e.round(t.Context())
			}
			// Some of them may be in the log still.
			if got := o.applied["link 1"]; got < 1_000-lost || got == 1_000 {
				t.Errorf("got %d clicks, want all but the %d that are damaged", got, lost)
			}
			found := inQuarantine(t, dir, c.wantEnd)
			s := e.Stats()
			if len(found) != 1 || s.Quarantined != 1 || s.Missing == 0 || s.Missing > stored.to-stored.from {
				t.Errorf("got %v and %+v, want one in quarantine and up to %d bytes missing", found, s, stored.to-stored.from)
			}
			if known := s.Damaged == lost; known != c.known {
				t.Errorf("got %d damaged clicks, want %d to be known: %t", s.Damaged, lost, c.known)
			}
		})
	}
}

// flip changes a bit in the middle of a file.
func flip(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b[len(b)/2] ^= 1
	return os.WriteFile(path, b, 0o600)
}

// instead puts a folder in the place of a file: it can be opened, and not be
// read.
func instead(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }

func TestAStoredStretchThatCannotBeReadForAMomentIsWaitedFor(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	e := down(t, o, dir, clock, want, 1_000)
	path := e.shipper.shelf.path(e.shipper.own().stored[1])
	if err := errors.Join(os.Rename(path, path+".away"), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	o.fault = nil
	for range 8 {
		e.round(t.Context())
	}
	if err := errors.Join(os.Remove(path), os.Rename(path+".away", path)); err != nil {
		t.Fatal(err)
	}
	e.settle(t)
	o.same(t, want)
	if s := e.Stats(); s.Missing != 0 || s.Quarantined != 0 {
		t.Errorf("got %+v, want nothing missing", s)
	}
}

func TestOfTwoStretchesThatBeginAlikeTheOneThatCanBeReadIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := shelf{filepath.Join(dir, "folded"), &quarantine{dir: filepath.Join(dir, "quarantine"), logger: slog.New(slog.DiscardHandler)}}
	for _, to := range []uint64{10, 30} {
		stretch := click.Stretch{Boot: "b", To: to}
		p, err := s.put(stored{boot: "b", to: to}, stretch.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if to == 30 {
			if err := flip(s.path(p)); err != nil {
				t.Fatal(err)
			}
		}
	}
	found, err := s.list()
	if err != nil || len(found["b"]) != 1 || found["b"][0].to != 10 {
		t.Errorf("got %+v, %v, want the shorter one", found, err)
	}
	if got := inQuarantine(t, dir, asideSuffix); len(got) != 1 {
		t.Errorf("got %v in quarantine, want the longer one", got)
	}
}
