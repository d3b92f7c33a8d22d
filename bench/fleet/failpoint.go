package fleet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"waypost/shared/failpoint"
)

// makeArmable gives each process a folder of its own.
func (f *Fleet) makeArmable(tb testing.TB) {
	tb.Helper()
	for _, o := range f.Origins {
		o.env[failpoint.Folder] = tb.TempDir()
	}
	for _, e := range f.Edges {
		e.env[failpoint.Folder] = tb.TempDir()
	}
}

// Arm lets the next pass of the process through a failpoint do what a word says: failpoint.Kill, failpoint.Stop, or of
// failpoint.WallClock a duration.
func (p *Process) Arm(tb testing.TB, point failpoint.Point, word string) {
	tb.Helper()
	path := p.armed(tb, point)
	// Renamed, so that the process never reads half of it.
	if err := os.WriteFile(path+".new", []byte(word), 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		tb.Fatal(err)
	}
}

// AwaitHit waits until the process has begun to do what it was armed for.
func (p *Process) AwaitHit(tb testing.TB, point failpoint.Point) {
	tb.Helper()
	path := p.armed(tb, point)
	Await(tb, fmt.Sprintf("%s passes %s", p.Name, point), func() error {
		_, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err == nil:
			return errors.New("it is still armed")
		default:
			return err
		}
	})
}

// AwaitEnd waits until the process, which was armed to kill itself, has ended. It can be started again then.
func (p *Process) AwaitEnd(tb testing.TB) {
	tb.Helper()
	Await(tb, p.Name+" ends", func() error {
		if p.alive() == nil {
			return errors.New("it runs")
		}
		return nil
	})
	p.take()
}

// armed is the file that arms a point.
func (p *Process) armed(tb testing.TB, point failpoint.Point) string {
	tb.Helper()
	dir := p.env[failpoint.Folder]
	if dir == "" {
		tb.Fatalf("%s cannot be armed: the fleet has no failpoints", p.Name)
	}
	return filepath.Join(dir, string(point))
}
