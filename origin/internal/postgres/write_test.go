package postgres_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/codes"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// together writes n mutations from as many goroutines.
func together(t *testing.T, s *postgres.Store, n int, mutation func(i int) links.Mutation) []links.Result {
	t.Helper()
	results := make([]links.Result, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			res, err := s.Write(t.Context(), []links.Mutation{mutation(i)})
			if err != nil {
				t.Errorf("Write: %v", err)
				return
			}
			results[i] = res[0]
		})
	}
	wg.Wait()
	return results
}

func TestOneOfFiftyParallelCreatesOfAnAliasSucceeds(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key := link.Key{Code: "wanted"}
	results := together(t, s, 50, func(i int) links.Mutation {
		return create(key, content("https://a.example/"+strconv.Itoa(i)))
	})
	var made, taken int
	var target string
	for _, res := range results {
		switch {
		case res.Err == nil:
			made++
			target = res.Link.Target
		case errors.Is(res.Err, link.ErrTaken):
			taken++
		default:
			t.Errorf("create: %v", res.Err)
		}
	}
	got, err := s.Link(t.Context(), key)
	if made != 1 || taken != 49 || err != nil || got.Target != target || got.Version != 1 {
		t.Errorf("%d made, %d taken, link %+v, %v; want 1, 49 and the winner's link in version 1", made, taken, got, err)
	}
}

func TestConcurrentChangesOfDifferentFieldsLoseNone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key := link.Key{Code: "busy"}
	mustWrite(t, s, create(key, content("https://a.example/")))
	changes := []func(*link.Link){
		func(l *link.Link) { l.Target = "https://b.example/" },
		func(l *link.Link) { l.Title = "title" },
		func(l *link.Link) { l.Tags = append(l.Tags, "tag") },
		func(l *link.Link) { l.Owner = "ann" },
		func(l *link.Link) { l.Status = 301 },
		func(l *link.Link) { l.Class = link.Strict },
		func(l *link.Link) { l.MaxClicks++ },
		func(l *link.Link) { l.MaxClicks++ },
		func(l *link.Link) { l.MaxClicks++ },
		func(l *link.Link) { l.MaxClicks++ },
	}
	for _, res := range together(t, s, len(changes), func(i int) links.Mutation { return update(key, changes[i]) }) {
		if res.Err != nil {
			t.Errorf("update: %v", res.Err)
		}
	}
	got, err := s.Link(t.Context(), key)
	if err != nil {
		t.Fatalf("Link: %v", err)
	}
	if got.Target != "https://b.example/" || got.Title != "title" || len(got.Tags) != 1 || got.Owner != "ann" ||
		got.Status != 301 || got.Class != link.Strict || got.MaxClicks != 4 || got.Version != 11 {
		t.Errorf("a change was lost: %+v", got)
	}
}

func TestAGeneratedCodeIsChosenAnewWhereOneIsTaken(t *testing.T) {
	t.Parallel()
	s := registered(t, newStore(t))
	alias, tombstone := link.Key{Code: "q0V"}, link.Key{Code: "q0W"}
	mustWrite(t, s, create(alias, content("https://alias.example/")))
	mustWrite(t, s, create(tombstone, content("https://gone.example/")))
	mustWrite(t, s, remove(tombstone))
	kinds := codes.New(nil, codes.NewCounter(s))
	counter := create(link.Key{}, content("https://new.example/"))
	counter.Generate = func(ctx context.Context) (string, error) { return kinds.Next(ctx, "counter") }
	for _, tt := range []struct {
		name string
		m    links.Mutation
		want string
	}{
		{"counter", counter, "q0X"},
		{"random", generate("", content("https://new.example/"), "q0V", "q0W", "Ab3dEf9"), "Ab3dEf9"},
		{"other domain", generate("go.example", content("https://new.example/"), "q0V"), "q0V"},
	} {
		if res := mustWrite(t, s, tt.m); res.Link.Key.Code != tt.want {
			t.Errorf("%s: code %q, want %q", tt.name, res.Link.Key.Code, tt.want)
		}
	}
	got, err := s.Link(t.Context(), alias)
	if err != nil || got.Target != "https://alias.example/" || got.Version != 1 {
		t.Errorf("the alias is %+v, %v, want it as it was", got, err)
	}
}

func TestAGeneratorThatOnlyMeetsTakenCodesIsGivenUp(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustWrite(t, s, create(link.Key{Code: "one"}, content("https://a.example/")))
	calls := 0
	m := create(link.Key{}, content("https://b.example/"))
	m.Generate = func(context.Context) (string, error) { calls++; return "one", nil }
	if res := write(t, s, m); !errors.Is(res.Err, links.ErrNoCode) || calls != 1000 {
		t.Errorf("Write: %v after %d codes, want ErrNoCode after 1,000", res.Err, calls)
	}
}

func TestCounterCodesGoOnBehindManyTakenAliases(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	counter := codes.NewCounter(s)
	const first, taken = 100_001, 600
	claims := make([]links.Mutation, taken)
	for i := range claims {
		claims[i] = create(link.Key{Code: codes.Base62(uint64(first + i))}, content("https://alias.example/"))
	}
	if _, err := s.Write(t.Context(), claims); err != nil {
		t.Fatalf("Write: %v", err)
	}
	ms := make([]links.Mutation, 20)
	for i := range ms {
		ms[i] = create(link.Key{}, content("https://new.example/"))
		ms[i].Generate = counter.Next
	}
	results, err := s.Write(t.Context(), ms)
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
	got := make(map[string]bool)
	for _, res := range results {
		if res.Err != nil {
			t.Fatalf("Write behind %d taken codes: %v", taken, res.Err)
		}
		got[res.Link.Key.Code] = true
	}
	for i := range ms {
		if want := codes.Base62(uint64(first + taken + i)); !got[want] {
			t.Errorf("code %s was not given out", want)
		}
	}
}

func TestParallelReuseMakesOneLinkUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var random codes.Random
	reuse := func(int) links.Mutation {
		m := create(link.Key{}, content("https://a.example/"))
		m.Generate, m.Reuse = random.Next, true
		return m
	}
	round := func() link.Key {
		t.Helper()
		results := together(t, s, 20, reuse)
		made := 0
		for _, res := range results {
			if res.Err != nil {
				t.Fatalf("reuse: %v", res.Err)
			}
			if !res.Reused {
				made++
			}
			if (res.Change == nil) != res.Reused || res.Link.Key != results[0].Link.Key {
				t.Errorf("got %+v, want the link %s", res, results[0].Link.Key)
			}
		}
		if made > 1 {
			t.Errorf("%d links were made, want at most 1", made)
		}
		return results[0].Link.Key
	}
	first := round()
	mustWrite(t, s, remove(first))
	second := round()
	if second == first {
		t.Errorf("the deleted link %s was reused", first)
	}
	if again := round(); again != second {
		t.Errorf("reuse gave %s, want the live link %s", again, second)
	}
}

func TestReuseFindsOnlyWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	s := registered(t, newStore(t))
	var random codes.Random
	reuse := func(domain string, change func(*link.Link)) links.Mutation {
		l := content("https://a.example/")
		if change != nil {
			change(l)
		}
		m := create(link.Key{Domain: domain}, l)
		m.Generate, m.Reuse = random.Next, true
		return m
	}
	// An alias that was asked for is not there to be reused.
	mustWrite(t, s, create(link.Key{Code: "alias"}, content("https://a.example/")))
	first := mustWrite(t, s, reuse("", nil))
	if first.Reused {
		t.Errorf("an alias was reused: %+v", first.Link)
	}
	for name, m := range map[string]links.Mutation{
		"domain":      reuse("go.example", nil),
		"target":      reuse("", func(l *link.Link) { l.Target += "b" }),
		"owner":       reuse("", func(l *link.Link) { l.Owner = "ann" }),
		"status":      reuse("", func(l *link.Link) { l.Status = 301 }),
		"query":       reuse("", func(l *link.Link) { l.Query = link.QueryAppend }),
		"suffix":      reuse("", func(l *link.Link) { l.Suffix = link.SuffixAppend }),
		"class":       reuse("", func(l *link.Link) { l.Class = link.Strict }),
		"clicks":      reuse("", func(l *link.Link) { l.Clicks = false }),
		"max clicks":  reuse("", func(l *link.Link) { l.MaxClicks = 3 }),
		"expired url": reuse("", func(l *link.Link) { l.ExpiredURL = "https://b.example/" }),
		"expiry":      reuse("", func(l *link.Link) { l.ExpiresAt = time.Now().Add(time.Hour) }),
		"enabled":     reuse("", func(l *link.Link) { l.Enabled = false }),
		"start":       reuse("", func(l *link.Link) { l.StartsAt = time.Now().Add(time.Hour) }),
	} {
		if res := mustWrite(t, s, m); res.Reused {
			t.Errorf("a link of another %s was reused: %+v", name, res.Link)
		}
	}
	titled := mustWrite(t, s, reuse("", func(l *link.Link) { l.Title = "other title" }))
	if !titled.Reused || titled.Link.Key != first.Link.Key {
		t.Errorf("got %+v, want the first link, whose title does not matter", titled.Link)
	}
	mustWrite(t, s, update(first.Link.Key, func(l *link.Link) { l.Enabled = false }))
	if res := mustWrite(t, s, reuse("", nil)); res.Reused {
		t.Errorf("a disabled link was reused: %+v", res.Link)
	}
}

func TestARowThatCamePastTheLocksIsSeenOnASecondLook(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	key := link.Key{Code: "past"}
	m := create(key, content("https://a.example/"))
	merge, calls := m.Merge, 0
	m.Merge = func(old *link.Link, now time.Time) (*link.Link, error) {
		if calls++; calls == 1 {
			exec(t, url, `INSERT INTO links SELECT 999, '', 'past', $1, 77, false, 'https://b.example/', 1, 302, true, '', '', '{}',
				'off', 'off', 'available', true, NULL, NULL, '', 0, now(), now(), NULL`, feed.Shard(key.Hash()))
		}
		return merge(old, now)
	}
	if res := write(t, s, m); !errors.Is(res.Err, link.ErrTaken) || calls != 2 {
		t.Errorf("create: %v after %d looks, want ErrTaken after 2", res.Err, calls)
	}
	if e, err := s.Entry(t.Context(), key); err != nil || e.Target != "https://b.example/" || e.AsOf != 0 {
		t.Errorf("entry %+v, %v, want the other row and no position used", e, err)
	}
}
