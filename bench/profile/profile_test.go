package profile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"golang.org/x/sync/errgroup"

	"waypost/bench/load"
	"waypost/bench/measure"
)

const method = "An edge is asked for %s, in a closed loop of %d connections, each from an address of its own; limiter async, clicks on; every answer's status and Location are checked. " +
	"Meanwhile its ops listener takes a profile of %d s of CPU; then, in as many more, those of allocations, of waits for mutexes and of waits of goroutines, which cost some CPU themselves. " +
	"CPU is what the kernel charges to the edge's process for an answer while the first profile is taken; the parts are the shares of that profile's samples, each of which goes to the innermost of its functions that has a part."

// resultsDir is the folder, an absolute path, in which profiles and their report are kept; "": they are forgotten.
var resultsDir = os.Getenv("WAYPOST_MEASURE_RESULTS")

// TestProfile takes profiles of every work. With the folder WAYPOST_MEASURE_RESULTS they are kept there, in profile/; it
// wants binaries without the race detector. Without it they are short and forgotten, and in the short version there is one
// work: what it shows is that profiles can be taken, and that all answers are right.
func TestProfile(t *testing.T) {
	r := measure.Start(t, measure.Config{
		Name: "profile", Command: "make profile", Bin: binDir, Results: resultsDir,
		Settings: []string{
			"One core for the edge (taskset, GOMAXPROCS=1), another one for the load and for what is behind the edge: origin, PostgreSQL, Redis, NATS.",
			"An edge and an origin as built for release, positions and clicks in a state folder on this machine's disk, all features on. `WAYPOST_STALE_BOUND` is 30 s: a busy machine changes no answer.",
			"`profile/WORK-cpu.pprof`, `-allocs`, `-mutex` and `-block` are for `go tool pprof`; the `.txt` beside each is its top.",
		},
	})
	for _, w := range Works() {
		if testing.Short() && w.Name != "one" {
			continue
		}
		t.Run(w.Name, func(t *testing.T) { newStage(t, r, w).profiled(t) })
	}
}

// profiled takes the profiles of the stage's work.
func (s *stage) profiled(t *testing.T) {
	t.Helper()
	seconds := s.Times(1, 10)
	cpu, got, used := s.cpu(t, seconds)
	s.waits(t, seconds)

	perAnswer := used.Seconds() * 1e6 / float64(got.Answers)
	values := []measure.Value{measure.Number("CPU", perAnswer, "µs")}
	parts := Parts(cpu)
	if len(parts) == 0 {
		t.Error("the CPU profile has no samples")
	}
	for _, p := range parts {
		values = append(values, measure.Number(p.Name, perAnswer*p.Share, "µs"))
	}
	s.Found(t, measure.Figure{
		Name: s.work.Does, Unit: "answers", N: got.Answers, Method: fmt.Sprintf(method, s.work.Does, conns, seconds), Values: values,
	})
}

// cpu takes the profile of CPU, and tells what was answered meanwhile and what the edge has used for it.
func (s *stage) cpu(t *testing.T, seconds int) (p *profile.Profile, got load.Result, used time.Duration) {
	t.Helper()
	before := s.used(t)
	got = s.asked(t, seconds, func(ctx context.Context) (err error) {
		p, err = take(ctx, s.edge.Ops, cpu, seconds, s.file(cpu))
		return err
	})
	return p, got, s.used(t) - before
}

// waits takes the other profiles, all at once.
func (s *stage) waits(t *testing.T, seconds int) {
	t.Helper()
	s.asked(t, seconds, func(ctx context.Context) error {
		taking, ctx := errgroup.WithContext(ctx)
		for _, k := range []kind{allocs, mutex, block} {
			taking.Go(func() error {
				p, err := take(ctx, s.edge.Ops, k, seconds, s.file(k))
				if err == nil && k == block && len(p.Sample) == 0 {
					err = fmt.Errorf("nothing in %s has waited for anything", s.edge.Name)
				}
				return err
			})
		}
		return taking.Wait()
	})
}

// file is the path of a profile.
func (s *stage) file(k kind) string { return filepath.Join(s.dir, s.work.Name+"-"+k.file()+".pprof") }

// used is the CPU that the edge has used so far.
func (s *stage) used(t *testing.T) time.Duration {
	t.Helper()
	used, err := measure.CPU(s.edge.PID(t))
	if err != nil {
		t.Fatal(err)
	}
	return used
}

// asked has the edge asked in a closed loop that goes on for a little longer than a profile of so many seconds, which is
// taken meanwhile.
func (s *stage) asked(t *testing.T, seconds int, profile func(context.Context) error) load.Result {
	t.Helper()
	taking, ctx := errgroup.WithContext(t.Context())
	taking.Go(func() error { return profile(ctx) })
	got, err := s.load.Closed(ctx, time.Duration(seconds)*time.Second+200*time.Millisecond)
	if taken := taking.Wait(); taken != nil {
		t.Fatal(taken)
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}
