package redirects

import (
	"bufio"
	"bytes"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/measure"
)

// roundTrips is the program that asks for one thing after the other.
type roundTrips struct {
	*measuring
	path string
}

// buildRoundTrips builds it as it would be released.
func (m *measuring) buildRoundTrips(t *testing.T) *roundTrips {
	t.Helper()
	r := &roundTrips{m, filepath.Join(t.TempDir(), "roundtrips")}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", r.path, "waypost/bench/redirects/roundtrips").CombinedOutput(); err != nil {
		t.Fatalf("round trips: %v:\n%s", err, out)
	}
	return r
}

// question is what it is to ask.
type question struct {
	kind, url string
	names     []string
	core      int     // it runs on in a full run
	rate      float64 // a second
	lasting   time.Duration
	workers   int
}

// times asks, and returns how long the answers took.
func (r *roundTrips) times(t *testing.T, q question) measure.Sample {
	t.Helper()
	args := []string{
		r.path, "-kind", q.kind, "-url", q.url, "-rate", strconv.FormatFloat(q.rate, 'f', 3, 64), "-lasting", q.lasting.String(),
		"-workers", strconv.Itoa(max(q.workers, 1)),
	}
	if r.Full() {
		args = append([]string{"taskset", "--cpu-list", strconv.Itoa(q.core)}, args...)
	}
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Stdin = strings.NewReader(strings.Join(q.names, "\n"))
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("round trips to %s: %v: %s", q.kind, err, &said)
	}
	var times []time.Duration
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		ns, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			t.Fatalf("round trips to %s: %v", q.kind, err)
		}
		times = append(times, time.Duration(ns))
	}
	return measure.NewSample(times)
}

// valuesOf are the names of links' values in L2, codes their codes.
func valuesOf(links []fleet.Link) (names []string) {
	for _, l := range links {
		names = append(names, fleet.L2Key(l))
	}
	return names
}

func codesOf(links []fleet.Link) (names []string) {
	for _, l := range links {
		names = append(names, l.Code)
	}
	return names
}
