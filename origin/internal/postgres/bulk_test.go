package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"waypost/origin/internal/codes"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestABulkWriteAnswersInOrderAndFailsItemByItem(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	taken := link.Key{Code: "taken"}
	mustWrite(t, s, create(taken, content("https://a.example/")))
	refused := errors.New("refused by its rules")
	var random codes.Random
	ms := make([]links.Mutation, postgres.MaxWrite)
	want := make(map[int]error)
	for i := range ms {
		target := "https://a.example/" + strconv.Itoa(i)
		switch i % 10 {
		case 0:
			ms[i], want[i] = create(taken, content(target)), link.ErrTaken
		case 1:
			ms[i] = create(link.Key{Code: "x" + strconv.Itoa(i)}, content(target))
			ms[i].Generate, want[i] = func(context.Context) (string, error) { return "", refused }, refused
		case 2:
			ms[i] = create(link.Key{}, content(target))
			ms[i].Generate = random.Next
		case 3:
			ms[i], want[i] = update(link.Key{Code: "none" + strconv.Itoa(i)}, func(*link.Link) {}), link.ErrNotFound
		default:
			ms[i] = create(link.Key{Code: "bulk" + strconv.Itoa(i)}, content(target))
		}
		if i%10 == 1 {
			ms[i].Key.Code = ""
		}
	}
	results, err := s.Write(t.Context(), ms)
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
	for i, res := range results {
		if !errors.Is(res.Err, want[i]) || want[i] == nil && res.Link.Target != "https://a.example/"+strconv.Itoa(i) {
			t.Fatalf("item %d: %+v, %v, want its own link or %v", i, res.Link, res.Err, want[i])
		}
	}
	checkPositions(t, s)
}

func TestAWriteOfTooManyMutationsIsRefused(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if _, err := s.Write(t.Context(), make([]links.Mutation, postgres.MaxWrite+1)); err == nil {
		t.Error("Write took more than MaxWrite mutations")
	}
}

func TestMutationsOfOneKeyAreDoneInOrder(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key := link.Key{Code: "same"}
	results, err := s.Write(t.Context(), []links.Mutation{
		create(key, content("https://a.example/")),
		update(key, func(l *link.Link) { l.Title = "second" }),
		create(key, content("https://taken.example/")),
		remove(key),
		create(key, content("https://b.example/")),
	})
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
	var got []string
	for _, res := range results {
		got = append(got, fmt.Sprint(res.Link.Version, " ", res.Link.Title, " ", res.Err))
	}
	want := []string{"1  <nil>", "2 second <nil>", "0  alias is taken", "3 second <nil>", "4  <nil>"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("results %q, want %q", got, want)
	}
}

func TestABulkReusesWhatItMadeItself(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var random codes.Random
	ms := make([]links.Mutation, 40)
	for i := range ms {
		ms[i] = create(link.Key{}, content("https://a.example/"+strconv.Itoa(i%4)))
		ms[i].Generate, ms[i].Reuse = random.Next, true
	}
	results, err := s.Write(t.Context(), ms)
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
	for i, res := range results {
		first := results[i%4]
		if res.Err != nil || res.Reused != (i >= 4) || res.Link.Key != first.Link.Key {
			t.Errorf("item %d: %+v, want the link %s", i, res, first.Link.Key)
		}
	}
}

func TestWhatCannotBeStoredFailsAlone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	keys := sameShard(link.Key{Code: "k"}, 3)
	results, err := s.Write(t.Context(), []links.Mutation{
		create(keys[0], content("https://a.example/")),
		create(keys[1], &link.Link{Target: "https://a.example/", Status: 302, Title: "zero \x00 byte"}),
		create(keys[2], content("https://"+strings.Repeat("a", 40_000))),
		create(link.Key{Code: "bytes\xff"}, content("https://a.example/")),
		create(link.Key{Code: "other"}, content("https://a.example/")),
	})
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
	for i, ok := range []bool{true, false, false, false, true} {
		invalid, isInvalid := errors.AsType[*link.InvalidError](results[i].Err)
		if ok && results[i].Err != nil || !ok && (!isInvalid || len(invalid.Fields) == 0) {
			t.Errorf("item %d: %v, want success %v or an InvalidError", i, results[i].Err, ok)
		}
	}
	checkPositions(t, s)
}

// TestBulkAndSingleWritesNeverDeadlock writes overlapping sets of keys in random
// orders from many goroutines, then looks at what they left behind.
func TestBulkAndSingleWritesNeverDeadlock(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var random codes.Random
	mutation := func(r *rand.Rand) links.Mutation {
		key := link.Key{Code: "k" + strconv.Itoa(r.IntN(120))}
		switch r.IntN(6) {
		case 0:
			return remove(key)
		case 1, 2:
			return create(key, content("https://a.example/"))
		case 3:
			m := create(link.Key{}, content("https://reuse.example/"+strconv.Itoa(r.IntN(5))))
			m.Generate, m.Reuse = random.Next, true
			return m
		default:
			return update(key, func(l *link.Link) { l.MaxClicks++ })
		}
	}
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			for range 15 {
				ms := make([]links.Mutation, 1+r.IntN(1+r.IntN(80)))
				for i := range ms {
					ms[i] = mutation(r)
				}
				results, err := s.Write(t.Context(), ms)
				if err != nil {
					t.Errorf("Write: %v", err)
					return
				}
				for _, res := range results {
					if res.Err != nil && !errors.Is(res.Err, link.ErrTaken) && !errors.Is(res.Err, link.ErrNotFound) {
						t.Errorf("mutation: %v", res.Err)
					}
				}
			}
		})
	}
	wg.Wait()
	checkPositions(t, s)
}

// checkPositions checks that every shard's outbox is gap-free up to its head,
// and that each key's link is as its last change says.
func checkPositions(t *testing.T, s *postgres.Store) {
	t.Helper()
	heads, err := s.Heads(t.Context())
	if err != nil {
		t.Fatalf("Heads: %v", err)
	}
	last := make(map[link.Key]*feed.Change)
	for shard := range feed.Shards {
		var next uint64 = 1
		for next <= heads.Seq[shard] {
			c, err := s.Changes(t.Context(), shard, heads.Epoch, next-1)
			if err != nil || c.Reset || len(c.Rows) == 0 || c.Head != heads.Seq[shard] {
				t.Fatalf("changes of shard %d from %d: %+v, %v, want rows up to %d", shard, next-1, c, err, heads.Seq[shard])
			}
			for _, row := range c.Rows {
				if row.Seq != next || (row.Kind == feed.Create) != (last[row.Key] == nil) {
					t.Fatalf("shard %d: %+v, want seq %d, and a create only of a new key", shard, row, next)
				}
				last[row.Key] = row
				next++
			}
		}
	}
	if len(last) == 0 {
		t.Fatal("nothing was written")
	}
	for key, row := range last {
		want, ok, err := row.Entry()
		if err != nil || !ok {
			t.Fatalf("change %+v: no entry: %v", row, err)
		}
		got, err := s.Entry(t.Context(), key)
		if err != nil {
			t.Fatalf("Entry: %v", err)
		}
		want.AsOf = heads.Seq[row.Shard]
		if !reflect.DeepEqual(got, want) {
			t.Errorf("entry of %s:\n got %+v\nwant %+v", key, got, want)
		}
	}
}
