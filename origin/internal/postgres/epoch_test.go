package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}

func TestAnEpochIsBumpedOnceByAllWhoSawIt(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if err := s.BumpEpochFrom(t.Context(), 1); err != nil {
				t.Errorf("BumpEpochFrom: %v", err)
			}
		})
	}
	wg.Wait()
	check := func(step string, want uint64) {
		t.Helper()
		if got := roster(t, s).Heads.Epoch; got != want {
			t.Errorf("%s: epoch %d, want %d", step, got, want)
		}
	}
	check("ten saw 1", 2)
	for _, seen := range []uint64{0, 1, 3, 1<<63 + 2, 1<<64 - 1} {
		if err := s.BumpEpochFrom(t.Context(), seen); err != nil {
			t.Errorf("BumpEpochFrom(%d): %v", seen, err)
		}
	}
	check("others than 2 were seen", 2)
	if n, err := s.BumpEpoch(t.Context()); n != 3 || err != nil {
		t.Errorf("BumpEpoch = %d, %v, want 3", n, err)
	}
	check("bumped by command", 3)
}

func TestANewEpochBeginsAfterTheWritesOfTheOldOne(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	conn := connect(t, url)
	key := link.Key{Code: "k"}
	shard := feed.Shard(key.Hash())
	m := create(key, content("https://a.example/"))
	merge := m.Merge
	bumped := make(chan error, 1)
	m.Merge = func(old *link.Link, now time.Time) (*link.Link, error) {
		go func() { bumped <- s.BumpEpochFrom(t.Context(), 1) }()
		eventually(t, "the bump waits for the write", func() bool {
			var waiting bool
			err := conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%shard_head%')`).Scan(&waiting)
			return err == nil && waiting
		})
		return merge(old, now)
	}
	change := mustWrite(t, s, m).Change
	if err := <-bumped; err != nil {
		t.Fatalf("BumpEpochFrom: %v", err)
	}
	h := roster(t, s).Heads
	if change.Epoch != 1 || h.Epoch != 2 || h.Seq[shard] != change.Seq {
		t.Errorf("change %+v, heads of epoch %d at %d; want the change of epoch 1 in the first heads of epoch 2",
			change, h.Epoch, h.Seq[shard])
	}
}

// TestARestoredDatabaseGoesOnInANewEpoch puts the tables back to where they were
// some writes ago, as a restored copy would, and writes on.
func TestARestoredDatabaseGoesOnInANewEpoch(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	key := link.Key{Code: "k"}
	shard := feed.Shard(key.Hash())
	keys := sameShard(key, 5)
	for _, k := range keys {
		mustWrite(t, s, create(k, content("https://kept.example/")))
	}
	conn := connect(t, url)
	for _, copied := range []string{"links", "link_history", "outbox", "shard_head"} {
		if _, err := conn.Exec(t.Context(), `CREATE TEMP TABLE copy_`+copied+` AS TABLE `+copied); err != nil {
			t.Fatalf("copy %s: %v", copied, err)
		}
	}
	// The last column of links is made from others, and is made again.
	if _, err := conn.Exec(t.Context(), `ALTER TABLE copy_links DROP COLUMN search`); err != nil {
		t.Fatalf("copy links: %v", err)
	}
	for _, k := range keys {
		mustWrite(t, s, update(k, func(l *link.Link) { l.Target = "https://lost.example/" }))
	}
	for _, copied := range []string{"links", "link_history", "outbox", "shard_head"} {
		if _, err := conn.Exec(t.Context(), `DELETE FROM `+copied); err != nil {
			t.Fatalf("empty %s: %v", copied, err)
		}
		if _, err := conn.Exec(t.Context(), `INSERT INTO `+copied+` TABLE copy_`+copied); err != nil {
			t.Fatalf("restore %s: %v", copied, err)
		}
	}
	if c, err := s.Changes(t.Context(), shard, 1, 10); err != nil || !c.Reset || c.Head != 5 {
		t.Errorf("changes from a lost position: %+v, %v, want a reset at 5", c, err)
	}
	if err := s.BumpEpochFrom(t.Context(), 1); err != nil {
		t.Fatalf("BumpEpochFrom: %v", err)
	}
	fresh := mustWrite(t, s, update(keys[0], func(l *link.Link) { l.Target = "https://new.example/" })).Change
	if fresh.Epoch != 2 || fresh.Seq != 6 {
		t.Errorf("first write after the restore: %+v, want epoch 2 at 6", fresh)
	}
	for _, from := range []uint64{0, 5, 6, 10} {
		if c, err := s.Changes(t.Context(), shard, 1, from); err != nil || !c.Reset || c.Epoch != 2 || c.Head != 6 {
			t.Errorf("changes of epoch 1 from %d: %+v, %v, want a reset to epoch 2 at 6", from, c, err)
		}
	}
	c, err := s.Changes(t.Context(), shard, 2, 4)
	if err != nil || c.Reset || len(c.Rows) != 2 || c.Rows[0].Epoch != 2 || c.Rows[1].Value != fresh.Value {
		t.Errorf("changes of epoch 2 from 4: %+v, %v, want 5 and 6", c, err)
	}
	for i, want := range []feed.Entry{
		{Epoch: 2, AsOf: 6, Version: 6, Body: feed.Body{Target: "https://new.example/"}},
		{Epoch: 2, AsOf: 6, Version: 2, Body: feed.Body{Target: "https://kept.example/"}},
	} {
		e, err := s.Entry(t.Context(), keys[i])
		if err != nil || e.Epoch != want.Epoch || e.AsOf != want.AsOf || e.Version != want.Version || e.Target != want.Target {
			t.Errorf("entry of %s: %+v, %v, want %+v", keys[i], e, err, want)
		}
	}
}
