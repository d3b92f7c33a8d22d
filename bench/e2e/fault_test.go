package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"waypost/bench/fleet"
)

// Every fault test plays life: whatever is broken that a visitor must not notice, links that are made, changed and
// deleted meanwhile are answered right by every edge once it has applied that.

// life is some links in all states, under names of their own.
func life(t *testing.T, f *fleet.Fleet, name string) {
	t.Helper()
	api := f.API(t)
	const n = 12
	links := numbered(t, api, name, 3*n)
	kept, changed, deleted := links[:n], links[n:2*n], links[2*n:]
	f.Settle(t)
	atEvery(f.Edges, func(e *fleet.Edge) { allLead(t, e, 4, links) })
	for i := range changed {
		changed[i] = api.MustPatch(t, changed[i], fleet.Fields{"target": targetOf(name+"-changed", i)})
		api.MustDelete(t, deleted[i])
	}
	f.Settle(t)
	atEvery(f.Edges, func(e *fleet.Edge) {
		allLead(t, e, 4, kept)
		allLead(t, e, 4, changed)
		allAnswer(t, e, deleted, http.StatusNotFound)
		for range n {
			if err := isStatus(e.Get(t, "/"+unknownCode()), http.StatusNotFound); err != nil {
				t.Errorf("%s: unknown code: %v", e.Name, err)
			}
		}
	})
}

// allAnswer reads links that lead nowhere.
func allAnswer(t *testing.T, e *fleet.Edge, links []fleet.Link, status int) {
	t.Helper()
	noErrors(t, e.Run(t.Context(), fleet.Load{
		Conns: min(4, len(links)), N: len(links),
		Request: func(i int) fleet.Request { return fleet.Request{Path: links[i].Path()} },
		Check: func(_ int, r fleet.Reply) error {
			if r.Status == http.StatusServiceUnavailable && r.Header.Get("Retry-After") == "" {
				return errors.New("a 503 without Retry-After")
			}
			return isStatus(r, status)
		},
	}))
}

// parts waits until /readyz of every edge says so of a part, with 200: an edge that is degraded keeps its visitors.
func parts(t *testing.T, f *fleet.Fleet, part, state, status string) {
	t.Helper()
	for _, e := range f.Edges {
		e.AwaitPart(t, part, state, http.StatusOK, status)
	}
}

func TestRedisDownAtStartAndLater(t *testing.T) {
	t.Parallel()
	f := prepare(t, fleet.Spec{ProxyRedis: true})
	cut := func() {
		for _, p := range f.RedisProxies {
			p.Cut()
		}
	}
	heal := func() {
		for _, p := range f.RedisProxies {
			p.Heal()
		}
	}
	cut()
	f.Launch(t)
	parts(t, f, "redis", "down", "degraded")
	life(t, f, "at-start")
	heal()
	parts(t, f, "redis", "ok", "ok")
	filtersAnswer(t, f)
	life(t, f, "healed")
	cut()
	life(t, f, "later")
	parts(t, f, "redis", "down", "degraded")
	life(t, f, "known-to-be-down")
	heal()
	parts(t, f, "redis", "ok", "ok")
	filtersAnswer(t, f)
	life(t, f, "healed-again")
}

func TestRedisKilledAndRestartedEmpty(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{})
	life(t, f, "before")
	for _, r := range f.Redis {
		r.Kill()
	}
	life(t, f, "dead")
	for _, r := range f.Redis {
		if err := r.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	parts(t, f, "redis", "ok", "ok")
	filtersAnswer(t, f)
	life(t, f, "empty")
}

func TestRedisSlowOrPausedAtStartAndLater(t *testing.T) {
	t.Parallel()
	f := prepare(t, fleet.Spec{ProxyRedis: true})
	slow := func(d time.Duration) {
		for _, p := range f.RedisProxies {
			p.Delay(d)
		}
	}
	slow(time.Second)
	f.Launch(t)
	f.Settle(t)
	life(t, f, "slow-at-start")
	parts(t, f, "redis", "down", "degraded")
	slow(0)
	parts(t, f, "redis", "ok", "ok")
	filtersAnswer(t, f)
	links := numbered(t, f.API(t), "steady", 200)
	f.Settle(t)
	slow(time.Second)
	steadily(t, f, links)
	life(t, f, "slow-later")
	slow(0)
	parts(t, f, "redis", "ok", "ok")
	for _, r := range f.Redis {
		r.Pause()
	}
	life(t, f, "paused")
	for _, r := range f.Redis {
		r.Resume()
	}
	parts(t, f, "redis", "ok", "ok")
	filtersAnswer(t, f)
	life(t, f, "resumed")
}

// steadily reads links that no cache holds, one by one over some seconds: long enough for whoever gave Redis up to try
// it again and again, which no visitor may have to wait for.
func steadily(t *testing.T, f *fleet.Fleet, links []fleet.Link) {
	t.Helper()
	atEvery(f.Edges, func(e *fleet.Edge) {
		conn := e.Dial(t)
		for _, l := range links {
			began := time.Now()
			r, err := conn.Ask(fleet.Request{Path: l.Path()})
			if err == nil {
				err = leads(r, l.Target)
			}
			if err != nil {
				t.Errorf("%s, after %s: %v", e.Name, time.Since(began), err)
			}
			fleet.Pass(t, 25*time.Millisecond)
		}
	})
}

func TestRedisFlushedAgainAndAgain(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{})
	for i := range 5 {
		for _, server := range f.Redis {
			if err := redisOf(t, server).FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		life(t, f, fmt.Sprintf("flush-%d", i))
	}
	filtersAnswer(t, f)
}

func TestNATSDownAtStartAndKilledLater(t *testing.T) {
	t.Parallel()
	f := prepare(t, fleet.Spec{})
	f.NATS.Kill()
	f.Launch(t)
	f.Settle(t)
	parts(t, f, "nats", "down", "degraded")
	life(t, f, "at-start")
	restart := func() {
		if err := f.NATS.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		parts(t, f, "nats", "ok", "ok")
	}
	restart()
	life(t, f, "there")
	f.NATS.Kill()
	life(t, f, "killed")
	parts(t, f, "nats", "down", "degraded")
	restart()
	life(t, f, "there-again")
}

// A server that hangs keeps its connections, and whatever was sent to it until it goes on.
func TestNATSPausedAndResumed(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{})
	f.NATS.Pause()
	life(t, f, "paused")
	f.NATS.Resume()
	life(t, f, "resumed")
	parts(t, f, "nats", "ok", "ok")
}

func TestOriginKilled(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{})
	f.AwaitFilters(t)
	api := f.API(t)
	links := numbered(t, api, "origin-killed", 40)
	held, others := links[:20], links[20:]
	f.Settle(t)
	atEvery(f.Edges, func(e *fleet.Edge) { allLead(t, e, 4, held) })
	f.Origins[0].Kill()
	atEvery(f.Edges, func(e *fleet.Edge) {
		for range 3 {
			allLead(t, e, 4, held)
			allAnswer(t, e, others, http.StatusServiceUnavailable)
		}
	})
	parts(t, f, "origin", "down", "degraded")
	atEvery(f.Edges, func(e *fleet.Edge) {
		allLead(t, e, 4, held)
		allAnswer(t, e, others, http.StatusServiceUnavailable)
	})
	f.Origins[0].Start(t)
	parts(t, f, "origin", "ok", "ok")
	atEvery(f.Edges, func(e *fleet.Edge) { allLead(t, e, 4, links) })
	life(t, f, "origin-back")
}

func TestOneOfTwoOriginsKilledOrPaused(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{Origins: 2})
	api := f.APIOf(t, f.Origins[1])
	hurt := f.Origins[0]
	for _, fault := range []struct {
		name     string
		do, undo func()
	}{
		{"kill", hurt.Kill, func() { hurt.Start(t) }},
		{"pause", hurt.Pause, hurt.Resume},
	} {
		links := numbered(t, api, fault.name, 40)
		f.Settle(t)
		fault.do()
		atEvery(f.Edges, func(e *fleet.Edge) { allLead(t, e, 4, links) })
		more := numbered(t, api, fault.name+"-meanwhile", 40)
		f.Settle(t)
		atEvery(f.Edges, func(e *fleet.Edge) { allLead(t, e, 4, more) })
		fault.undo()
	}
	hurt.AwaitReady(t)
	f.Settle(t)
}

func TestPostgreSQLStoppedAndKilled(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{PrivatePostgres: true})
	f.AwaitFilters(t)
	api := f.API(t)
	for _, fault := range []struct {
		name string
		do   func() error
	}{
		{"stop", func() error { return f.Postgres.Stop(t.Context()) }},
		{"kill", func() error { f.Postgres.Kill(); return nil }},
	} {
		links := numbered(t, api, "postgres-"+fault.name, 40)
		held, others := links[:20], links[20:]
		f.Settle(t)
		atEvery(f.Edges, func(e *fleet.Edge) { allLead(t, e, 4, held) })
		if err := fault.do(); err != nil {
			t.Fatal(err)
		}
		withoutPostgres(t, api, links[0])
		atEvery(f.Edges, func(e *fleet.Edge) {
			allLead(t, e, 4, held)
			allAnswer(t, e, others, http.StatusServiceUnavailable)
		})
		parts(t, f, "origin", "down", "degraded")
		f.Origins[0].AwaitPart(t, "postgres", "down", http.StatusServiceUnavailable, "unready")
		if err := f.Postgres.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.Origins[0].AwaitReady(t)
		parts(t, f, "origin", "ok", "ok")
		atEvery(f.Edges, func(e *fleet.Edge) { allLead(t, e, 4, links) })
		life(t, f, "postgres-back-"+fault.name)
	}
}

// withoutPostgres calls every kind of operation: each is a 503 that says so, and nothing of it happens.
func withoutPostgres(t *testing.T, api *fleet.API, l fleet.Link) {
	t.Helper()
	for _, call := range []struct {
		method, path string
		body         any
	}{
		{http.MethodGet, "/links/" + l.Code, nil},
		{http.MethodGet, "/links", nil},
		{http.MethodPost, "/links", fleet.Fields{"target": "https://example.com/"}},
		{http.MethodPost, "/links/bulk", fleet.Fields{"items": []fleet.Fields{{"target": "https://example.com/"}}}},
		{http.MethodPatch, "/links/" + l.Code, fleet.Fields{"target": "https://example.com/lost"}},
		{http.MethodDelete, "/links/" + l.Code, nil},
	} {
		answer, err := api.Do(t.Context(), call.method, call.path, call.body)
		if err != nil {
			t.Errorf("%s %s: %v", call.method, call.path, err)
			continue
		}
		var problem struct {
			Status        int
			Title, Detail string
		}
		if err := json.Unmarshal(answer.Body, &problem); err != nil {
			t.Errorf("%s %s: %v: %s", call.method, call.path, err, answer.Body)
		}
		if answer.Status != http.StatusServiceUnavailable || problem.Status != answer.Status || problem.Title == "" ||
			answer.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: got %d %s: %s; want a 503 problem", call.method, call.path, answer.Status, answer.Header.Get("Content-Type"), answer.Body)
		}
	}
}

// An edge that never heard of an origin has nothing to say, says that, and finds the origin when it comes.
func TestEdgesStartedWhileTheOriginIsDown(t *testing.T) {
	t.Parallel()
	f := prepare(t, fleet.Spec{})
	for _, e := range f.Edges {
		e.Launch(t)
	}
	parts(t, f, "config", "degraded", "degraded")
	for _, e := range f.Edges {
		if err := isStatus(e.Get(t, "/"+unknownCode()), http.StatusServiceUnavailable); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	for _, o := range f.Origins {
		o.Start(t)
	}
	parts(t, f, "config", "ok", "ok")
	life(t, f, "origin-came")
}
