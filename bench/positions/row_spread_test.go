package positions

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/measure"
	"waypost/deploy/process"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// changeEvery is the time from one change to the next of those whose spread is measured: 200 a second.
const changeEvery = 5 * time.Millisecond

const spreadMethod = "200 changes a second, each an update of one of 2,000 links, written with `ack=commit` by an open loop. " +
	"The time begins when PostgreSQL notes the commit, before it is on disk and before anybody can see the change " +
	"(`pg_xact_commit_timestamp`), and ends when an observer on NATS hears the last edge's acknowledgement, which an edge sends when " +
	"floor and position are stored: so it is longer than from commit to applied at all edges, by the flush to disk and the " +
	"acknowledgement's way. `from write` begins with the change's own time stamp, earlier in the transaction; `from feed` when the " +
	"observer hears the change itself, and so is without the commit and the publishing. All clocks are this machine's. Where edges " +
	"are far, the line's delay is taken off once, for the acknowledgement's way back."

// spread writes n changes and waits until all members, edges at least, that pass of have acknowledged all of them.
func (s *stage) spread(t *testing.T, n int, d time.Duration, views ...view) (spreads []Spread, late measure.Sample) {
	t.Helper()
	links := s.bulk(t, "spread", s.Times(100, 2000))
	watch, err := NewWatch(s.NATS.URL(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	from := s.heads(t)
	_, late = s.write(t, changeEvery, n, links, "commit")
	to := s.heads(t)
	// One more change in each shard: an edge that told of a position over HTTP, unheard here, tells of a later one now.
	s.write(t, changeEvery, feed.Shards, oneOfEachShard(links), "edges")
	s.commits(t, from, to, watch)
	for _, v := range views {
		fleet.Await(t, "all changes are acknowledged", func() error {
			if missing := watch.Spread(from, to, v.members, v.of, d).Missing; missing > 0 {
				return fmt.Errorf("%d acknowledgements are missing", missing)
			}
			return nil
		})
		spreads = append(spreads, watch.Spread(from, to, v.members, v.of, d))
	}
	return spreads, late
}

// view is a set of members: how many, and which ids.
type view struct {
	members int
	of      func(id string) bool
}

// edges are the fleet's own.
func (s *stage) edges() view {
	return view{len(s.Edges), func(id string) bool { return !strings.HasPrefix(id, followerName) }}
}

// heads are the last positions now.
func (s *stage) heads(t *testing.T) *feed.Heads {
	t.Helper()
	heads, err := s.Origins[0].Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return heads
}

// oneOfEachShard are links of as many shards as links have.
func oneOfEachShard(links []fleet.Link) (some []fleet.Link) {
	seen := map[int]bool{}
	for _, l := range links {
		key := link.Key{Domain: l.Domain, Code: l.Code}
		if shard := feed.Shard(key.Hash()); !seen[shard] {
			seen[shard] = true
			some = append(some, l)
		}
	}
	return some
}

// figure is a spread's.
func (s Spread) figure(name string, late measure.Sample, bars ...measure.Value) measure.Figure {
	values := append(bars,
		measure.Number("p99.9", s.FromCommit.Millis(0.999), "ms"), measure.Number("max", s.FromCommit.Millis(1), "ms"),
		measure.Number("from write p50", s.FromWrite.Millis(0.5), "ms"), measure.Number("from write p99", s.FromWrite.Millis(0.99), "ms"),
		measure.Number("from feed p50", s.FromHeard.Millis(0.5), "ms"), measure.Number("from feed p99", s.FromHeard.Millis(0.99), "ms"),
		measure.Number("load late p99", late.Millis(0.99), "ms"))
	return measure.Figure{Name: name, Unit: "changes", N: s.Changes, Values: values, Method: spreadMethod}
}

func (s *stage) changesSpread(t *testing.T) {
	spreads, late := s.spread(t, s.Times(200, 10_000), 0, s.edges())
	got := spreads[0]
	s.Found(t, got.figure(fmt.Sprintf("commit → applied at all of %d edges", len(s.Edges)), late,
		measure.Most("p50", got.FromCommit.Millis(0.5), 2, "ms"), measure.Most("p99", got.FromCommit.Millis(0.99), 10, "ms")))
}

func (s *stage) changesSpreadFar(t *testing.T) {
	defer s.distance(t, 0)
	for _, d := range []time.Duration{10 * time.Millisecond, 50 * time.Millisecond} {
		s.distance(t, d)
		spreads, late := s.spread(t, s.Times(50, 4000), d, s.edges())
		got := spreads[0]
		s.Found(t, got.figure(fmt.Sprintf("commit → applied at all of %d edges, %s away", len(s.Edges), d), late,
			measure.Number("p50", got.FromCommit.Millis(0.5), "ms"),
			measure.Most("p99", got.FromCommit.Millis(0.99), measure.Millis(d)+10, "ms")))
	}
}

func (s *stage) changesSpreadToMany(t *testing.T) {
	n := s.Times(10, 100)
	stop := s.follow(t, n)
	defer s.joined(t, len(s.Edges))
	defer stop()
	s.joined(t, len(s.Edges)+n)
	everyone := view{len(s.Edges) + n, func(string) bool { return true }}
	spreads, late := s.spread(t, s.Times(100, 10_000), 0, everyone, s.edges())
	for i, of := range []string{"and", "beside"} {
		got := spreads[i]
		f := got.figure(fmt.Sprintf("commit → applied at all of %d edges, %s %d followers", len(s.Edges), of, n), late,
			measure.Number("p50", got.FromCommit.Millis(0.5), "ms"),
			measure.Most("p99", got.FromCommit.Millis(0.99), 25, "ms"))
		f.Method += " The followers are the edge's own code for the feed, in one process, each a member with connections and a " +
			"table of its own, of 256 floors an array in place of 16,384; they answer no visitors."
		s.Found(t, f)
	}
}

// followerName begins the ids of followers that are no edges of the fleet.
const followerName = "follower"

// follow starts more followers, in one process.
func (s *stage) follow(t *testing.T, n int) (stop func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "followers")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "waypost/edge/internal/follow/followers").CombinedOutput(); err != nil {
		t.Fatalf("build of the followers: %v: %s", err, out)
	}
	proc, err := process.Start(t.Context(), process.Spec{
		Name: "followers", Path: path,
		Args: []string{
			"-n", strconv.Itoa(n), "-name", followerName, "-prefix", prefix,
			"-origin", "http://" + s.Origins[0].Internal, "-nats", s.NATS.URL(),
		},
		Env: []string{"WAYPOST_INTERNAL_SECRET=" + fleet.Secret}, Output: t.Output(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := proc.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if err := proc.Wait(); err != nil {
			t.Errorf("followers: %v", err)
		}
	}
}
