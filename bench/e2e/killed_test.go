package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"waypost/bench/fleet"
)

// segmentSuffix ends the names of an edge's files of clicks.
const segmentSuffix = ".clicks"

func TestKilledEdgeLosesNoClickThatItAnswered(t *testing.T) {
	t.Parallel()
	c := count(t, start(t, fleet.Spec{KeepState: true}))
	tr := traffic{edges: c.Edges, links: numbered(t, c.api, "killed", 20), visitors: 4, kills: true}
	c.Settle(t)
	end := tr.begin(t)
	for i := range long(3, 50) {
		e := c.Edges[i%len(c.Edges)]
		tr.await(t, long[uint64](300, 2000))
		e.Kill()
		size := sizeOf(t, filepath.Join(e.State, "clicks"))
		began := time.Now()
		e.Start(t)
		t.Logf("kill %d: %s with %.1f KiB of clicks ready after %v", i, e.Name, float64(size)/1024, time.Since(began).Round(time.Millisecond))
	}
	tr.await(t, 300)
	end()
	c.settle(t)
	tr.counted(t, c)
}

// Whatever becomes of what an edge has on disk, what the origin has is counted once and the edge goes on.
func TestEdgeGoesOnAfterItsDiskLostClicksThatWereShipped(t *testing.T) {
	t.Parallel()
	c := count(t, start(t, fleet.Spec{KeepState: true, Edges: []string{"eu"}}))
	e, l := c.Edges[0], c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/lost"})
	total := uint64(0)
	for _, loss := range []struct {
		name string
		of   func(t *testing.T, dir string)
	}{
		{"power cut, segments shorter than what was shipped", halve},
		{"power cut, segments empty", func(t *testing.T, dir string) { t.Helper(); cut(t, dir, func(int64) int64 { return 0 }) }},
		{"disk wiped", wipe},
	} {
		clicks(t, e, l, 4, 400)
		total += 400
		c.settle(t)
		e.Kill()
		loss.of(t, e.State)
		e.Start(t)
		clicks(t, e, l, 4, 100)
		total += 100
		c.settle(t)
		if got := c.stats(t, l).Clicks.Total; got != total {
			t.Errorf("%s: got %d clicks, want %d", loss.name, got, total)
		}
	}
}

// A power cut may take the end of the last record, and takes no more than that record.
func TestEdgeReadsASpoolWithATornTailOn(t *testing.T) {
	t.Parallel()
	c := count(t, start(t, fleet.Spec{KeepState: true, Edges: []string{"eu"}, ProxyEdges: true}))
	e, l := c.Edges[0], c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/torn"})
	oneClick(t, e, l, nil)
	c.settle(t)
	e.ToOrigins[0].Cut()
	clicks(t, e, l, 4, 200)
	e.Kill()
	cut(t, e.State, func(size int64) int64 { return size - 9 })
	e.ToOrigins[0].Heal()
	e.Start(t)
	c.settle(t)
	c.has(t, l, 200, 0) // all but the last one
}

func wipe(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

func halve(t *testing.T, dir string) {
	t.Helper()
	cut(t, dir, func(size int64) int64 { return size / 2 })
}

// cut makes every segment of clicks in a state folder shorter, as a file system does that had not written it out.
func cut(t *testing.T, dir string, to func(size int64) int64) {
	t.Helper()
	found := false
	for path, size := range segments(t, filepath.Join(dir, "clicks")) {
		if err := os.Truncate(path, to(size)); err != nil {
			t.Fatal(err)
		}
		found = true
	}
	if !found {
		t.Errorf("no segment below %s", dir)
	}
}

// segments are the files of clicks, each with its size in bytes.
func segments(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, segmentSuffix) {
			return err
		}
		info, err := d.Info()
		if err == nil {
			found[path] = info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func sizeOf(t *testing.T, dir string) (sum int64) {
	t.Helper()
	for _, size := range segments(t, dir) {
		sum += size
	}
	return sum
}
