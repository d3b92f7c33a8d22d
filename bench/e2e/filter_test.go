package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"waypost/bench/fleet"
	"waypost/shared/feed"
)

const (
	filterKeys = 10_000 // what the filters are laid out for: they are full in this test
	lookedFor  = 100_000
	fresh      = 400 // links that nobody has read when Redis is hurt
)

// Two edges of one region, so that one of them meets in Redis what the other one left there.
//
//nolint:tparallel // its parts hurt the same Redis, one after the other
func TestBloomFilterUnderFlushLossAndRestartOfRedis(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{
		Edges:   []string{"eu", "eu"},
		EdgeEnv: map[string]string{"WAYPOST_FILTER_KEYS": fmt.Sprint(filterKeys)},
	})
	f.AwaitFilters(t)
	api := f.API(t)
	links := numbered(t, api, "filtered", filterKeys)
	f.Settle(t)
	f.AwaitFilters(t)

	t.Run("unknown codes stop at it", func(t *testing.T) { unknownStop(t, f) })
	t.Run("every existing code passes it", func(t *testing.T) {
		half := len(links) / 2
		var both sync.WaitGroup
		both.Go(func() { allLead(t, f.Edges[0], 16, links[:half]) })
		both.Go(func() { allLead(t, f.Edges[1], 16, links[half:]) })
		both.Wait()
	})
	r := redisOf(t, f.Redis["eu"])
	t.Run("Flush", func(t *testing.T) {
		lose(t, f, api, func() error { return r.FlushAll(t.Context()).Err() })
	})
	t.Run("Loss of the filters alone", func(t *testing.T) {
		lose(t, f, api, func() error {
			keys, err := keysLike(t.Context(), r, "wp:{s*}:f")
			if err != nil || len(keys) != feed.Shards {
				return fmt.Errorf("%d filter keys, %w; want %d", len(keys), err, feed.Shards)
			}
			return r.Del(t.Context(), keys...).Err()
		})
	})
	t.Run("Restart from an old snapshot", func(t *testing.T) { oldSnapshot(t, f, api) })
}

// unknownStop sends 100,000 random codes that no link has. Where Redis takes longer than the 50 ms that a lookup may
// take, as it does on a busy machine, the origin is asked instead, which is no fault of the filter: such requests are
// counted apart.
func unknownStop(t *testing.T, f *fleet.Fleet) {
	t.Helper()
	reached, unanswered := atOrigin(t, f)
	atEvery(f.Edges, func(e *fleet.Edge) {
		noErrors(t, e.Run(t.Context(), fleet.Load{
			Conns: 4, N: lookedFor / len(f.Edges),
			Request: func(int) fleet.Request { return fleet.Request{Path: "/" + unknownCode()} },
			Check:   func(_ int, r fleet.Reply) error { return isStatus(r, http.StatusNotFound) },
		}))
	})
	reachedNow, unansweredNow := atOrigin(t, f)
	reached, unanswered = reachedNow-reached, unansweredNow-unanswered
	passed := 100 * (reached - unanswered) / (lookedFor - unanswered)
	t.Logf("%v of %d unknown codes reached the origin, %v of them because Redis did not answer; the filter let %.2f %% pass",
		reached, lookedFor, unanswered, passed)
	if passed > 1.5 {
		t.Errorf("the filter let %.2f %% of unknown codes pass, want at most 1.5 %%", passed)
	}
	if unanswered > lookedFor/10 {
		t.Errorf("Redis did not answer %v of %d lookups: too many to tell anything", unanswered, lookedFor)
	}
}

// atOrigin counts the answers that came from the origin, and the lookups that Redis did not answer.
func atOrigin(t *testing.T, f *fleet.Fleet) (reached, unanswered float64) {
	t.Helper()
	for _, e := range f.Edges {
		reached += e.Metric(t, "waypost_edge_requests_total", `tier="origin"`)
		unanswered += e.Metric(t, "waypost_edge_l2_faults_total") + e.Metric(t, "waypost_edge_l2_skipped_total")
	}
	return reached, unanswered
}

// lose hurts Redis. Links that no cache has ever held must be found at once, and once the filters are back.
func lose(t *testing.T, f *fleet.Fleet, api *fleet.API, hurt func() error) {
	t.Helper()
	links := numbered(t, api, "fresh", fresh)
	f.Settle(t)
	if err := hurt(); err != nil {
		t.Fatal(err)
	}
	allLead(t, f.Edges[0], 4, links[:fresh/2])
	allLead(t, f.Edges[1], 4, links[fresh/2:])
	filtersAnswer(t, f)
	allLead(t, f.Edges[0], 4, links[fresh/2:])
	allLead(t, f.Edges[1], 4, links[:fresh/2])
}

// filtersAnswer waits until unknown codes of every shard are answered by the filter, at every edge, without an answer
// that is wrong meanwhile.
func filtersAnswer(t *testing.T, f *fleet.Fleet) {
	t.Helper()
	f.AwaitFilters(t)
	for _, e := range f.Edges {
		conn := e.Dial(t)
		for shard := range feed.Shards {
			fleet.Await(t, fmt.Sprintf("%s: shard %d is filtered", e.Name, shard), func() error {
				r, err := conn.Ask(fleet.Request{Path: "/" + unknownIn(shard)})
				if err == nil {
					err = isStatus(r, http.StatusNotFound)
				}
				if err != nil {
					t.Fatal(err)
				}
				if r.Tier() != "filter" {
					return fmt.Errorf("answered by %q", r.Tier())
				}
				return nil
			})
		}
	}
	f.AwaitFilters(t)
}

// oldSnapshot takes Redis back to where it was before links were made, changed and deleted. What it held of them was
// left there by the first edge; the second one never read them.
func oldSnapshot(t *testing.T, f *fleet.Fleet, api *fleet.API) {
	t.Helper()
	const n = 100
	first, second := f.Edges[0], f.Edges[1]
	r := redisOf(t, f.Redis["eu"])
	old := numbered(t, api, "old", 3*n)
	same, changed, deleted := old[:n], old[n:2*n], old[2*n:]
	f.Settle(t)
	allLead(t, first, 4, old)
	awaitStored(t, r, old)
	if err := r.Save(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	made := numbered(t, api, "made", 2*n)
	for i := range changed {
		changed[i] = api.MustPatch(t, changed[i], fleet.Fields{"target": targetOf("changed", i)})
		api.MustDelete(t, deleted[i])
	}
	f.Settle(t)
	f.Redis["eu"].Kill()
	if err := f.Redis["eu"].Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Exists(t.Context(), valueKey(changed[0])).Result(); err != nil || n != 1 {
		t.Fatalf("the snapshot holds %d values of a changed link, %v; want 1", n, err)
	}

	right := func(e *fleet.Edge, made []fleet.Link) {
		t.Helper()
		allLead(t, e, 4, made)
		allLead(t, e, 4, same)
		allLead(t, e, 4, changed)
		noErrors(t, e.Run(t.Context(), fleet.Load{
			Conns: 4, N: len(deleted),
			Request: func(i int) fleet.Request { return fleet.Request{Path: deleted[i].Path()} },
			Check:   func(_ int, r fleet.Reply) error { return isStatus(r, http.StatusNotFound) },
		}))
	}
	right(second, made[:n])
	right(first, made[n:])
	filtersAnswer(t, f)
	right(second, made)
	second.Restart(t) // without anything in its memory
	f.Settle(t)
	right(second, made)
}
