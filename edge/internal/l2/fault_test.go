package l2

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/shared/feed"
)

// health keeps what OnRedis was told last.
type health struct {
	mu    sync.Mutex
	known bool
	err   error
}

func (h *health) tell(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known, h.err = true, err
}

func (h *health) last() (known bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known, h.err
}

func TestAPausedRedisIsSkippedAndComesBack(t *testing.T) {
	t.Parallel()
	server := services.Redis(t)
	o := newOrigin()
	var h health
	cfg := config(connect(t, server.Addr()), o)
	cfg.Timeout, cfg.OnRedis = 50*time.Millisecond, h.tell
	e := newEdge(o, cfg)
	e.run(t)
	lookup := func() error {
		ctx := within(t)
		_, err := e.Lookup(ctx, keyOf(1), keyOf(1).Hash())
		if ctx.Err() != nil {
			t.Fatal("Lookup took its caller's minute, not its own timeout")
		}
		return err
	}
	eventually(t, "Redis answers", func() bool { known, err := h.last(); return known && err == nil && lookup() == nil })

	server.Pause()
	eventually(t, "lookups are skipped", func() bool { return errors.Is(lookup(), ErrSkipped) })
	eventually(t, "the fault is told", func() bool { _, err := h.last(); return err != nil })
	if !e.Stats().BreakerOpen {
		t.Error("breaker: got closed, want open")
	}
	for i := range 1000 {
		o.create(keyOf(i))
		e.Store(&feed.Entry{Epoch: 1, AsOf: 1, Key: keyOf(i)})
	}
	server.Resume()
	eventually(t, "the breaker closes without any lookup", func() bool { return !e.Stats().BreakerOpen })
	eventually(t, "lookups are answered", func() bool { return lookup() == nil })
	eventually(t, "recovery is told", func() bool { _, err := h.last(); return err == nil })
	eventually(t, "filters have what came meanwhile", func() bool { return e.inStepWith(t, o) })
}

func TestRedisMayBeDownAtTheStart(t *testing.T) {
	t.Parallel()
	server := services.Redis(t)
	server.Kill()
	o := newOrigin()
	for i := range 100 {
		o.create(keyOf(i))
	}
	e := newEdge(o, config(connect(t, server.Addr()), o))
	e.run(t)
	if _, err := e.Lookup(within(t), keyOf(1), keyOf(1).Hash()); err == nil {
		t.Error("Lookup: got no error, want one")
	}
	eventually(t, "lookups are skipped", func() bool {
		_, err := e.Lookup(within(t), keyOf(1), keyOf(1).Hash())
		return errors.Is(err, ErrSkipped)
	})
	if err := server.Restart(within(t)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "filters are there", func() bool { return e.inStepWith(t, o) })
	eventually(t, "lookups are answered", func() bool {
		r, err := e.Lookup(within(t), keyOf(-1), keyOf(-1).Hash())
		return err == nil && r.Absent != nil
	})
	noneRefused(t, e, 100)
}

func TestARestartFromASnapshotIsContinued(t *testing.T) {
	t.Parallel()
	server := services.Redis(t)
	o := newOrigin()
	e := newEdge(o, config(connect(t, server.Addr()), o))
	e.run(t)
	for i := range 200 {
		o.create(keyOf(i))
	}
	eventually(t, "filters are there", func() bool { return e.inStepWith(t, o) })
	if err := server.Stop(within(t)); err != nil { // writes the snapshot
		t.Fatal(err)
	}
	for i := range 200 {
		o.create(keyOf(200 + i))
	}
	if err := server.Restart(within(t)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "filters have caught up", func() bool { return e.inStepWith(t, o) })
	eventually(t, "lookups are answered", func() bool {
		_, err := e.Lookup(within(t), keyOf(1), keyOf(1).Hash())
		return err == nil
	})
	noneRefused(t, e, 400)
}

func TestTheOriginMayBeDownMeanwhile(t *testing.T) {
	t.Parallel()
	o, e, client := filled(t, 200)
	o.set(func() { o.down = true })
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	asked := o.codesAsked()
	eventually(t, "the origin was asked in vain", func() bool { return o.codesAsked() > asked+3 })
	noneRefused(t, e, 200)
	o.set(func() { o.down = false })
	eventually(t, "filters are there again", func() bool { return e.inStepWith(t, o) })
}

func TestDamagedValuesAreMisses(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t).Addr())
	e := New(config(client, newOrigin()))
	key := keyOf(1)
	good := version(1, 1).Append(nil)
	damaged := map[string][]byte{"empty": {}, "cut": good[:len(good)-1], "longer": append(slices.Clip(good), 0)}
	damaged["another format"] = append([]byte{9}, good[1:]...)
	damaged["another key"] = (&feed.Entry{Epoch: 1, AsOf: 1, Version: 1, Key: keyOf(2), Body: live()}).Append(nil)
	for range 20 {
		b := noise(make([]byte, 100))
		damaged["random "+string(b)] = b
		b = append([]byte{1}, b...)
		damaged["random "+string(b)] = b
	}
	name := e.keys[feed.Shard(key.Hash())].value(key)
	for what, b := range damaged {
		if err := client.Set(t.Context(), name, b, 0).Err(); err != nil {
			t.Fatal(err)
		}
		r, err := e.Lookup(within(t), key, key.Hash())
		if err != nil || r.Entry != nil {
			t.Errorf("%q: got %+v, %v, want a miss", what, r.Entry, err)
		}
	}
}

// One command's fault costs that command's answer only, and is no fault of
// Redis.
func TestAWrongTypeSpoilsItsOwnAnswerOnly(t *testing.T) {
	t.Parallel()
	o := newOrigin()
	client := connect(t, services.Redis(t).Addr())
	e := newEdge(o, config(client, o))
	stop := e.run(t)
	eventually(t, "filters are there", func() bool { return e.inStepWith(t, o) })
	e.Store(version(1, 1))
	eventually(t, "the value is there", func() bool { return e.find(t, keyOf(1)).Entry != nil })
	stop()

	listed := keyOf(7)
	if err := client.LPush(t.Context(), e.keys[feed.Shard(listed.Hash())].value(listed), "x").Err(); err != nil {
		t.Fatal(err)
	}
	shard := feed.Shard(keyOf(1).Hash())
	if err := client.Del(t.Context(), e.keys[shard].filter).Err(); err != nil {
		t.Fatal(err)
	}
	if err := client.LPush(t.Context(), e.keys[shard].filter, "x").Err(); err != nil {
		t.Fatal(err)
	}
	for range 2 * breakAfter {
		if r := e.find(t, listed); r.Entry != nil || r.Absent == nil {
			t.Fatalf("value of another type: got %+v, want no value and a no", r)
		}
		if r := e.find(t, keyOf(1)); r.Entry == nil || r.Absent != nil {
			t.Fatalf("filter of another type: got %+v, want the value and maybe", r)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	server := services.Redis(t)
	o := newOrigin()
	e := newEdge(o, config(connect(t, server.Addr()), o))
	server.Pause()
	for i := range 100 {
		o.create(keyOf(i))
		e.Store(version(1, uint64(i)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("Run: got %v, want nil", err)
		}
	case <-within(t).Done():
		t.Error("Run did not return")
	}
	server.Resume()
}
