package admin

import (
	"os"
	"strconv"
	"testing"

	"waypost/bench/fleet"
	"waypost/bench/measure"
)

// TestAdmin measures every row. With the folder WAYPOST_MEASURE_RESULTS, an absolute path, the counts are those of the
// figures, and the report is kept there; it wants binaries without the race detector. WAYPOST_ADMIN_LINKS is how many
// links there are in the end. Without the folder every row is measured all the same, in a small way: what it shows is
// that all can be measured. What misses its bar never fails.
func TestAdmin(t *testing.T) {
	m := newMeasuring(t)
	t.Run("links", func(t *testing.T) {
		s := m.stage(t)
		t.Run("calls", s.callsWithFewLinksAndMany)
		t.Run("bulk", s.bulks)
	})
}

// measuring is one run, and what it is measured on.
type measuring struct {
	*measure.Run
	many int // links in the end
}

func newMeasuring(t *testing.T) *measuring {
	t.Helper()
	m := &measuring{Run: measure.Start(t, measure.Config{
		Name: "admin", Command: "make admin", Bin: binDir, Results: os.Getenv("WAYPOST_MEASURE_RESULTS"),
		Settings: []string{
			"All processes, the load's too, share this machine's cores, so every time is longer than it would be with cores of their own.",
			"PostgreSQL 15 with 1 GB of shared buffers, fsync and synchronous commits on this machine's disk, two Redis, NATS; loopback throughout.",
			"One origin and two edges in two regions, as built for release, all by default but for the limiter of visitors, which is off. The key is an admin's, whose creations are not limited.",
			"Writes wait for both edges (`ack=edges`). Percentiles are of all samples, sorted: each is a time that was measured.",
		},
	})}
	m.many = m.Times(4*few, 1_000_000)
	if given := os.Getenv("WAYPOST_ADMIN_LINKS"); given != "" && m.Full() {
		n, err := strconv.Atoi(given)
		if err != nil || n < 2*few {
			t.Fatalf("WAYPOST_ADMIN_LINKS is %q, want a number of at least %d", given, 2*few)
		}
		m.many = n
	}
	return m
}

// stage is a running fleet on which rows are measured, one after the other.
type stage struct {
	*measuring
	*fleet.Fleet
	api   *fleet.API
	made  int      // links so far, but for those that were made one by one
	some  []string // paths of the first ones
	after string   // cursor of a page of the list by age
}

func (m *measuring) stage(t *testing.T) *stage {
	t.Helper()
	s := &stage{measuring: m, Fleet: fleet.Start(t, fleet.Spec{
		Binaries: binaries, DurablePostgres: m.Full(), PrivatePostgres: !m.Full(),
	})}
	s.api = s.API(t)
	return s
}
