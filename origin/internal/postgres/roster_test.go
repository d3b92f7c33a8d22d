package postgres_test

import (
	"reflect"
	"sync"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// The members of these tests.
var (
	eu      = feed.Member{ID: "eu", Boot: "1"}
	euAgain = feed.Member{ID: "eu", Boot: "2"}
	us      = feed.Member{ID: "us", Boot: "1"}
)

func roster(t *testing.T, s *postgres.Store) *links.Roster {
	t.Helper()
	r, err := s.Roster(t.Context())
	if err != nil {
		t.Fatalf("Roster: %v", err)
	}
	return r
}

// checkMembers compares the roster's edges with what they should be: true for
// one that has left.
func checkMembers(t *testing.T, s *postgres.Store, step string, want map[feed.Member]bool) {
	t.Helper()
	got := make(map[feed.Member]bool)
	for _, e := range roster(t, s).Edges {
		got[e.Member] = !e.LeftAt.IsZero()
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: members (true: left) %v, want %v", step, got, want)
	}
}

func join(t *testing.T, s *postgres.Store, m feed.Member) {
	t.Helper()
	if err := s.Join(t.Context(), m); err != nil {
		t.Fatalf("Join: %v", err)
	}
}

func leave(t *testing.T, s *postgres.Store, ms ...feed.Member) {
	t.Helper()
	if err := s.Leave(t.Context(), ms); err != nil {
		t.Fatalf("Leave: %v", err)
	}
}

func TestARosterHasHeadsBoundsAndMembers(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key := link.Key{Code: "k"}
	mustWrite(t, s, create(key, content("https://a.example/")))
	join(t, s, us)
	join(t, s, eu)
	got := roster(t, s)
	want := &links.Roster{
		Heads:        feed.Heads{Epoch: 1, Now: got.Heads.Now, Bound: time.Second.Microseconds()},
		Edges:        []links.Edge{{Member: eu}, {Member: us}},
		BarrierBound: time.Second,
	}
	want.Heads.Seq[feed.Shard(key.Hash())] = 1
	if !reflect.DeepEqual(got, want) {
		t.Errorf("roster:\n got %+v\nwant %+v", got, want)
	}
}

func TestOnlyTheSameRunOfAnEdgeJoinsAgain(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	checkMembers(t, s, "at first", map[feed.Member]bool{})
	join(t, s, eu)
	join(t, s, us)
	checkMembers(t, s, "joined", map[feed.Member]bool{eu: false, us: false})
	leave(t, s, eu, feed.Member{ID: "never", Boot: "joined"})
	checkMembers(t, s, "left", map[feed.Member]bool{eu: true, us: false})
	join(t, s, euAgain)
	checkMembers(t, s, "another run joined", map[feed.Member]bool{eu: true, euAgain: false, us: false})
	join(t, s, eu)
	checkMembers(t, s, "joined again", map[feed.Member]bool{eu: false, euAgain: false, us: false})
	leave(t, s)
	checkMembers(t, s, "nobody left", map[feed.Member]bool{eu: false, euAgain: false, us: false})
}

func TestTheFirstTimeOfLeavingStays(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	join(t, s, eu)
	before := roster(t, s).Heads.Now
	leave(t, s, eu)
	first := roster(t, s)
	leave(t, s, eu)
	second := roster(t, s)
	at := first.Edges[0].LeftAt
	if at.UnixMicro() <= before || at.UnixMicro() >= first.Heads.Now || !second.Edges[0].LeftAt.Equal(at) {
		t.Errorf("left at %v, then %v; want one time between %d and %d", at, second.Edges[0].LeftAt, before, first.Heads.Now)
	}
}

func TestAnEdgeThatLeftCountsForOneMoreBound(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	setBound(t, s, time.Hour)
	join(t, s, eu)
	leave(t, s, eu)
	for _, step := range []struct {
		ago  string
		want map[feed.Member]bool
	}{
		{"59 minutes", map[feed.Member]bool{eu: true}},
		{"61 minutes", map[feed.Member]bool{}},
	} {
		exec(t, url, `UPDATE edge_member SET left_at = clock_timestamp() - $1::interval`, step.ago)
		checkMembers(t, s, "left "+step.ago+" ago, bound 1 h", step.want)
	}
	join(t, s, eu)
	checkMembers(t, s, "joined again", map[feed.Member]bool{eu: false})
}

func TestALeavingThatWasCutShortCountsUntilItIsEnded(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	for name, end := range map[string]func() error{
		"Leave of others": func() error { return s.Leave(t.Context(), []feed.Member{us}) },
		"Leave":           func() error { return s.Leave(t.Context(), []feed.Member{eu}) },
		"Prune":           func() error { return s.Prune(t.Context()) },
	} {
		join(t, s, eu)
		exec(t, url, `UPDATE edge_member SET left_at = 'infinity'`)
		r := roster(t, s)
		if len(r.Edges) != 1 || r.Edges[0].LeftAt.UnixMicro() != r.Heads.Now {
			t.Errorf("before %s: edges %+v, want one that left now, %d", name, r.Edges, r.Heads.Now)
		}
		if err := end(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r = roster(t, s); len(r.Edges) != 1 || r.Edges[0].LeftAt.IsZero() || r.Edges[0].LeftAt.UnixMicro() >= r.Heads.Now {
			t.Errorf("after %s: edges %+v, want one that left before %d", name, r.Edges, r.Heads.Now)
		}
	}
}

func TestManyJoinAndLeaveAtOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	members := make([]feed.Member, 20)
	for i := range members {
		members[i] = feed.Member{ID: string(rune('a' + i)), Boot: "1"}
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range members {
				m := members[(i*7+g)%len(members)]
				if err := s.Join(t.Context(), m); err != nil {
					t.Errorf("Join: %v", err)
				}
				if err := s.Leave(t.Context(), []feed.Member{m, members[g], members[len(members)-1-i]}); err != nil {
					t.Errorf("Leave: %v", err)
				}
			}
		})
	}
	wg.Wait()
	leave(t, s, members...)
	for _, e := range roster(t, s).Edges {
		if e.LeftAt.IsZero() {
			t.Errorf("%v has not left", e.Member)
		}
	}
}
