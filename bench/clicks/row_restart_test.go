package clicks

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/measure"
)

// restartsWithALargeSpool measures how long an edge takes to be ready, by what its spool holds.
func (s *stage) restartsWithALargeSpool(t *testing.T) {
	edge, origin := s.Edges[0], s.Origins[0]
	links := s.links(t, 20)
	fleet.Await(t, "the origin has all clicks", func() error { return nothingBehind(t.Context(), edge) })
	origin.Kill()
	s.fill(t, edge, links)
	edge.Kill()
	origin.Start(t)
	var full, empty []time.Duration
	gib := 0.0
	for range s.Times(1, 5) {
		gib += float64(folderBytes(t, filepath.Join(edge.State, "clicks"))) / (1 << 30)
		full = append(full, startTime(t, edge))
		edge.Kill() // before much of it is shipped
	}
	gib /= float64(len(full))
	if err := os.RemoveAll(filepath.Join(edge.State, "clicks")); err != nil {
		t.Fatal(err)
	}
	for i := range s.Times(1, 5) {
		if i > 0 {
			edge.Kill()
		}
		empty = append(empty, startTime(t, edge))
	}
	with, without := measure.NewSample(full), measure.NewSample(empty)
	s.Found(t, measure.Figure{
		Name: "restart with a large spool", Unit: "restarts", N: with.N(),
		Values: []measure.Value{
			measure.Number("spool", gib, "GiB"),
			measure.Number("ready p50", with.Millis(0.5), "ms"), measure.Number("max", with.Millis(1), "ms"),
			measure.Number("without a spool p50", without.Millis(0.5), "ms"),
			measure.Most("the spool's part for each GiB", max(with.Millis(0.5)-without.Millis(0.5), 0)/gib, 1000, "ms"),
		},
		Method: "The origin is killed, and an edge flooded with clicks whose referrers are as long as hosts can be. The edge is killed and the origin started; then the edge is started and killed again, five times with its " +
			"spool, which is hardly shorter each time, and five times without one. The time is from the start of the process to its first 200 of /readyz, asked every 5 ms.",
	})
}

// fill lets an edge's spool grow.
func (s *stage) fill(t *testing.T, edge *fleet.Edge, links []fleet.Link) {
	t.Helper()
	g := s.generator(t, edge, LongVisits(links, 1024))
	if _, err := g.Closed(t.Context(), s.Lasting(200*time.Millisecond, 30*time.Second)); err != nil {
		t.Fatal(err)
	}
}

// startTime starts an edge and says how long it took to be ready.
func startTime(t *testing.T, edge *fleet.Edge) time.Duration {
	t.Helper()
	began := time.Now()
	edge.Start(t)
	return time.Since(began)
}

// folderBytes is what the files of a folder hold.
func folderBytes(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
