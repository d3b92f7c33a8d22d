package postgres_test

import (
	"errors"
	"reflect"
	"strconv"
	"sync"
	"testing"

	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func purge(t *testing.T, s *postgres.Store, keys ...link.Key) []links.Result {
	t.Helper()
	results, err := s.Purge(t.Context(), keys)
	if err != nil {
		t.Fatalf("Purge: %v", err)
	}
	return results
}

func TestAPurgeIsAPositionThatLeavesTheRowAsItIs(t *testing.T) {
	t.Parallel()
	s := registered(t, newStore(t))
	live, deleted, none := link.Key{Code: "live"}, link.Key{Domain: "go.example", Code: "deleted"}, link.Key{Code: "none"}
	mustWrite(t, s, create(live, content("https://a.example/")))
	mustWrite(t, s, create(deleted, content("https://a.example/")))
	mustWrite(t, s, remove(deleted))
	results := purge(t, s, live, none, deleted, live)
	for i, want := range []struct {
		key          link.Key
		version, seq uint64
	}{{live, 1, 2}, {}, {deleted, 2, 3}, {live, 1, 3}} {
		res := results[i]
		if want.version == 0 {
			if !errors.Is(res.Err, link.ErrNotFound) || res.Change != nil {
				t.Errorf("item %d: %+v, want ErrNotFound and no change", i, res)
			}
			continue
		}
		if res.Err != nil || res.Link.Version != want.version || res.Link.Key != want.key || res.Change == nil {
			t.Errorf("item %d: %+v, want %+v", i, res, want)
			continue
		}
		wantChange := &feed.Change{
			Epoch: 1, Shard: feed.Shard(want.key.Hash()), Seq: want.seq, Kind: feed.Purge, At: res.Change.At, Key: want.key,
		}
		if !reflect.DeepEqual(res.Change, wantChange) || res.Change.At == 0 {
			t.Errorf("item %d: change %+v, want %+v", i, res.Change, wantChange)
		}
		e, err := s.Entry(t.Context(), want.key)
		if err != nil || e.Version != want.version || e.AsOf != 3 {
			t.Errorf("item %d: entry %+v, %v, want version %d as of 3", i, e, err, want.version)
		}
		c, err := s.Changes(t.Context(), wantChange.Shard, 1, want.seq-1)
		if err != nil || c.Reset || len(c.Rows) == 0 || !reflect.DeepEqual(c.Rows[0], wantChange) {
			t.Errorf("item %d: changes %+v, %v, want %+v first", i, c, err, wantChange)
		}
	}
}

func TestAPurgeOfTooManyKeysIsRefused(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if _, err := s.Purge(t.Context(), make([]link.Key, postgres.MaxWrite+1)); err == nil {
		t.Error("Purge took more than MaxWrite keys")
	}
}

func TestAPurgeOfAllIsOneChangeOfEachLinkShard(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key := link.Key{Code: "k"}
	mustWrite(t, s, create(key, content("https://a.example/")))
	changes, err := s.PurgeAll(t.Context())
	if err != nil || len(changes) != feed.Shards {
		t.Fatalf("PurgeAll = %d changes, %v, want %d", len(changes), err, feed.Shards)
	}
	heads := roster(t, s).Heads
	for shard, c := range changes {
		want := &feed.Change{Epoch: 1, Shard: shard, Seq: 1, Kind: feed.PurgeAll, At: c.At}
		if shard == feed.Shard(key.Hash()) {
			want.Seq = 2
		}
		if !reflect.DeepEqual(c, want) || c.At == 0 || heads.Seq[shard] != want.Seq {
			t.Errorf("change %+v, head %d, want %+v and its position", c, heads.Seq[shard], want)
		}
		got, err := s.Changes(t.Context(), shard, 1, want.Seq-1)
		if err != nil || len(got.Rows) != 1 || !reflect.DeepEqual(got.Rows[0], want) {
			t.Errorf("changes of shard %d: %+v, %v, want %+v", shard, got, err, want)
		}
	}
	if heads.Seq[feed.ConfigShard] != 0 {
		t.Errorf("head of the config shard is %d, want 0", heads.Seq[feed.ConfigShard])
	}
}

// TestPurgesBesideWritesLeaveNoGap writes and purges the same few keys from many
// goroutines, then follows every shard's changes.
func TestPurgesBesideWritesLeaveNoGap(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	keys := make([]link.Key, 12)
	for i := range keys {
		keys[i] = link.Key{Code: "k" + strconv.Itoa(i)}
		mustWrite(t, s, create(keys[i], content("https://a.example/")))
	}
	const rounds, goroutines = 8, 4
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range rounds {
				ms := make([]links.Mutation, len(keys))
				for j := range keys {
					ms[j] = update(keys[(i*5+j*g)%len(keys)], func(l *link.Link) { l.Title = strconv.Itoa(i) })
				}
				results, err := s.Write(t.Context(), ms)
				purged, purgeErr := s.Purge(t.Context(), keys)
				_, allErr := s.PurgeAll(t.Context())
				if err := errors.Join(err, purgeErr, allErr); err != nil {
					t.Errorf("round %d: %v", i, err)
					return
				}
				for _, res := range append(results, purged...) {
					if res.Err != nil {
						t.Errorf("round %d: %v", i, res.Err)
					}
				}
			}
		})
	}
	wg.Wait()
	seen := make(map[feed.Kind]int)
	version := make(map[link.Key]uint64)
	heads := roster(t, s).Heads
	for shard := range feed.Shards {
		for from := uint64(0); from < heads.Seq[shard]; {
			c, err := s.Changes(t.Context(), shard, 1, from)
			if err != nil || c.Reset || len(c.Rows) == 0 {
				t.Fatalf("changes of shard %d from %d: %+v, %v, want rows up to %d", shard, from, c, err, heads.Seq[shard])
			}
			for _, row := range c.Rows {
				seen[row.Kind]++
				if row.Kind == feed.Changed {
					version[row.Key] = row.Seq
				}
			}
			from += uint64(len(c.Rows))
		}
	}
	want := map[feed.Kind]int{
		feed.Create: len(keys), feed.Changed: goroutines * rounds * len(keys),
		feed.Purge: goroutines * rounds * len(keys), feed.PurgeAll: goroutines * rounds * feed.Shards,
	}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("changes by kind %v, want %v", seen, want)
	}
	for _, key := range keys {
		l, err := s.Link(t.Context(), key)
		if err != nil || l.Version != version[key] {
			t.Errorf("link %s has version %d, %v, want that of its last write, %d", key, l.Version, err, version[key])
		}
	}
}
