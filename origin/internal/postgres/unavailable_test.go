package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/clicks"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/click"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// calls are the store's methods, each reduced to its error.
func calls(s *postgres.Store) map[string]func(context.Context) error {
	key := link.Key{Code: "k"}
	return map[string]func(context.Context) error{
		"Ping":   s.Ping,
		"Entry":  func(ctx context.Context) error { _, err := s.Entry(ctx, key); return err },
		"Link":   func(ctx context.Context) error { _, err := s.Link(ctx, key); return err },
		"List":   func(ctx context.Context) error { _, err := s.List(ctx, links.Filter{}); return err },
		"Heads":  func(ctx context.Context) error { _, err := s.Heads(ctx); return err },
		"Config": func(ctx context.Context) error { _, err := s.Config(ctx); return err },
		"Codes":  func(ctx context.Context) error { _, err := s.Codes(ctx, 0, link.Key{}); return err },
		"Key":    func(ctx context.Context) error { _, err := s.Key(ctx, "id"); return err },
		"Changes": func(ctx context.Context) error {
			_, err := s.Changes(ctx, 0, 1, 0)
			return err
		},
		"Roster": func(ctx context.Context) error { _, err := s.Roster(ctx); return err },
		"Join":   func(ctx context.Context) error { return s.Join(ctx, feed.Member{ID: "eu", Boot: "1"}) },
		"Leave":  func(ctx context.Context) error { return s.Leave(ctx, []feed.Member{{ID: "eu", Boot: "1"}}) },
		"SetBound": func(ctx context.Context) error {
			return s.SetBound(ctx, time.Second)
		},
		"Purge": func(ctx context.Context) error {
			res, err := s.Purge(ctx, []link.Key{key})
			if err != nil {
				return err
			}
			return res[0].Err
		},
		"PurgeAll":      func(ctx context.Context) error { _, err := s.PurgeAll(ctx); return err },
		"KeysByTag":     func(ctx context.Context) error { _, err := s.KeysByTag(ctx, nil, "tag", link.Key{}, 1); return err },
		"BumpEpoch":     func(ctx context.Context) error { _, err := s.BumpEpoch(ctx); return err },
		"BumpEpochFrom": func(ctx context.Context) error { return s.BumpEpochFrom(ctx, 1) },
		"Prune":         s.Prune,
		"NextCounter":   func(ctx context.Context) error { _, err := s.NextCounter(ctx); return err },
		"KeepSalts":     s.KeepSalts,
		"Use":           func(ctx context.Context) error { _, err := s.Use(ctx, key); return err },
		"EraseClicks":   func(ctx context.Context) error { return s.EraseClicks(ctx, 1) },
		"RecentClicks":  func(ctx context.Context) error { _, err := s.RecentClicks(ctx, 1); return err },
		"Stats": func(ctx context.Context) error {
			_, err := s.Stats(ctx, 1, clicks.Query{Range: clicks.Range{From: today(), To: today().Add(time.Hour)}})
			return err
		},
		"TopLinks": func(ctx context.Context) error { _, err := s.TopLinks(ctx, today(), nil, 1); return err },
		"Orphans":  func(ctx context.Context) error { _, err := s.Orphans(ctx, clicks.Range{}); return err },
		"ApplyStretch": func(ctx context.Context) error {
			_, _, err := s.ApplyStretch(ctx, &click.Stretch{Boot: rand.Text(), To: 1})
			return err
		},
		"ConfigRows": func(ctx context.Context) error { _, err := s.ConfigRows(ctx, "domain/", "", 1); return err },
		"WriteConfig": func(ctx context.Context) error {
			_, err := s.WriteConfig(ctx, []links.ConfigMutation{setRow("row", `{"at":"`+time.Now().String()+`"}`)})
			return err
		},
		"Write": func(ctx context.Context) error {
			res, err := s.Write(ctx, []links.Mutation{{Key: key, Merge: func(*link.Link, time.Time) (*link.Link, error) {
				return content("https://a.example/"), nil
			}}})
			if err != nil {
				return err
			}
			return res[0].Err
		},
	}
}

// restart starts a killed server again. Its backends outlive it by a moment, and
// so long the new one refuses to start.
func restart(t *testing.T, pg *services.PostgresServer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := pg.Restart(ctx)
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("restart: %v", err)
		}
	}
}

func TestAServerThatIsAwayIsUnavailableUntilItIsBack(t *testing.T) {
	t.Parallel()
	pg := services.PrivatePostgres(t)
	s := openStore(t, pg.URL())
	mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/")))
	pg.Kill()
	for name, call := range calls(s) {
		if err := call(t.Context()); !errors.Is(err, link.ErrUnavailable) {
			t.Errorf("%s without a server: %v, want ErrUnavailable", name, err)
		}
	}
	if _, err := postgres.Open(t.Context(), postgres.Config{URL: pg.URL()}); !errors.Is(err, link.ErrUnavailable) {
		t.Errorf("Open without a server: %v, want ErrUnavailable", err)
	}
	restart(t, pg)
	for name, call := range calls(s) {
		if err := call(t.Context()); err != nil && (name != "Key" || !errors.Is(err, link.ErrNotFound)) {
			t.Errorf("%s after the restart: %v", name, err)
		}
	}
}

func TestAServerThatHangsIsUnavailableByTheCallersDeadline(t *testing.T) {
	t.Parallel()
	pg := services.PrivatePostgres(t)
	s := openStore(t, pg.URL())
	pg.Pause()
	defer pg.Resume()
	for name, call := range calls(s) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := call(ctx); !errors.Is(err, link.ErrUnavailable) {
			t.Errorf("%s of a hanging server: %v, want ErrUnavailable", name, err)
		}
		cancel()
	}
}

func TestAWriteWaitsForALockOnlySoLong(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	openStore(t, url)
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url, LockTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(s.Close)
	key := link.Key{Code: "k"}
	tx, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT FROM shard_head WHERE shard = $1 FOR UPDATE`, feed.Shard(key.Hash())); err != nil {
		t.Fatalf("lock: %v", err)
	}
	if res := write(t, s, create(key, content("https://a.example/"))); !errors.Is(res.Err, link.ErrUnavailable) {
		t.Errorf("write to a locked shard: %v, want ErrUnavailable", res.Err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatalf("rollback: %v", err)
	}
	if res := mustWrite(t, s, create(key, content("https://a.example/"))); res.Link.Version != 1 {
		t.Errorf("version %d after a write that failed, want 1", res.Link.Version)
	}
}

func TestWhatWasCommittedBeforeTheServerWentStands(t *testing.T) {
	t.Parallel()
	pg := services.PrivatePostgres(t)
	s := openStore(t, pg.URL())
	// The last group's rules bring the server down, in the middle of the write.
	ms := make([]links.Mutation, 0, feed.Shards)
	for shard := range feed.Shards {
		ms = append(ms, create(keyOfShard(shard), content("https://a.example/")))
	}
	last := &ms[feed.Shards-1]
	merge := last.Merge
	last.Merge = func(old *link.Link, now time.Time) (*link.Link, error) {
		pg.Kill()
		return merge(old, now)
	}
	results, err := s.Write(t.Context(), ms)
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
	restart(t, pg)
	for shard, res := range results {
		l, err := s.Link(t.Context(), ms[shard].Key)
		committed := shard < feed.Shards-8
		if (res.Err == nil) != committed || (err == nil) != committed || res.Err != nil && !errors.Is(res.Err, link.ErrUnavailable) {
			t.Errorf("shard %d: result %v, link %+v, %v, want committed %v", shard, res.Err, l, err, committed)
		}
	}
}
