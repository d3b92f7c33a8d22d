package spool

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// frozenDisk mounts an ext4 file system of its own, which can be frozen: every
// write to it, and every first store to a page of a mapping, then hangs.
type frozenDisk struct{ dir string }

func newFrozenDisk(tb testing.TB) *frozenDisk {
	tb.Helper()
	if os.Getuid() != 0 {
		tb.Skip("mounting a file system takes root")
	}
	image, dir := filepath.Join(tb.TempDir(), "image"), tb.TempDir()
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Truncate(image, 512<<20); err != nil {
		tb.Fatal(err)
	}
	for _, args := range [][]string{{"mkfs.ext4", "-q", image}, {"mount", "-o", "loop", image, dir}} {
		if out, err := exec.CommandContext(tb.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			tb.Skipf("no file system to freeze: %v: %v: %s", args, err, out)
		}
	}
	d := &frozenDisk{dir}
	tb.Cleanup(func() {
		_ = d.freeze(false)
		if out, err := exec.CommandContext(context.Background(), "umount", dir).CombinedOutput(); err != nil {
			tb.Errorf("umount: %v: %s", err, out)
		}
	})
	return d
}

func (d *frozenDisk) freeze(on bool) error {
	flag := "-u"
	if on {
		flag = "-f"
	}
	return exec.CommandContext(context.Background(), "fsfreeze", flag, d.dir).Run()
}

// answerProbes is a child that, for each line it reads, appends from eight
// goroutines, collects garbage, and answers with the longest append and the time
// of the collection.
func answerProbes(dir, name string) {
	c := candidates()[name](&testing.B{}, dir)
	defer c.close()
	c.append([]byte("makes the first segment"))
	if k, ok := c.(kept); ok { // else the disk may be known to be slow before it is frozen
		for st := k.Stats(); st.Stalled || st.HeldBytes > 0; st = k.Stats() {
			runtime.Gosched()
		}
	}
	in := bufio.NewScanner(os.Stdin)
	fmt.Println("ready")
	for in.Scan() {
		var mu sync.Mutex
		var worst time.Duration
		var wg sync.WaitGroup
		wg.Go(func() {
			share(800, 8, func() {
				before := time.Now()
				c.append(make([]byte, 90))
				mu.Lock()
				worst = max(worst, time.Since(before))
				mu.Unlock()
			})
		})
		before := time.Now()
		runtime.GC()
		gc := time.Since(before)
		wg.Wait()
		fmt.Println(worst.Nanoseconds(), gc.Nanoseconds())
	}
}

func probe(tb testing.TB, c *child) (worst, gc time.Duration) {
	tb.Helper()
	if _, err := fmt.Fprintln(c.in, "probe"); err != nil {
		tb.Fatal(err)
	}
	if _, err := fmt.Fscanln(c.out, &worst, &gc); err != nil {
		tb.Fatal(err)
	}
	return worst, gc
}

func newProbed(tb testing.TB, dir, name string) *child {
	tb.Helper()
	c := newChild(tb, "probe", dir, name)
	if line, err := c.out.ReadString('\n'); err != nil || line != "ready\n" {
		tb.Fatalf("child said %q, %v", line, err)
	}
	probe(tb, c)
	return c
}

// The child must answer while the disk is frozen, or this test hangs.
func TestAFrozenDiskStopsNeitherAppendsNorTheProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("mounts a file system")
	}
	d := newFrozenDisk(t)
	c := newProbed(t, d.dir, "spool")
	if err := d.freeze(true); err != nil {
		t.Fatal(err)
	}
	probe(t, c)
	probe(t, c)
	if err := d.freeze(false); err != nil {
		t.Fatal(err)
	}
	_ = c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got, want := frameCount(t, d.dir), 1+3*800; got != want {
		t.Errorf("got %d frames, want %d", got, want)
	}
}

// BenchmarkFrozenDisk freezes the disk of each candidate for two seconds.
func BenchmarkFrozenDisk(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(candidates())) {
		b.Run(name, func(b *testing.B) {
			d := newFrozenDisk(b)
			c := newProbed(b, d.dir, name)
			if err := d.freeze(true); err != nil {
				b.Fatal(err)
			}
			thaw := time.AfterFunc(2*time.Second, func() { _ = d.freeze(false) })
			worst, gc := probe(b, c)
			if thaw.Stop() {
				_ = d.freeze(false)
			}
			_ = c.in.Close()
			_ = c.cmd.Wait()
			b.ReportMetric(float64(worst.Microseconds())/1e3, "append-ms")
			b.ReportMetric(float64(gc.Microseconds())/1e3, "gc-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}
