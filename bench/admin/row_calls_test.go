package admin

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/bench/fleet"
	"waypost/bench/measure"
)

// call is one kind of call of the API.
type call struct {
	name string
	do   func(ctx context.Context, s *stage, n int) error // n is another one for each call
}

// most is how much longer a call may take with a million links than with a thousand.
const most = 3

// calls are what is measured. Lists and searches want a page of ten links, the default.
func calls() []call {
	return []call{
		{"list: newest", listed("", 10)},
		{"list: oldest", listed("sort=created_at", 10)},
		{"list: most clicked", listed("sort=clicks", 10)},
		{"list: the page after 900 links", deep},
		{"list: an owner's", func(ctx context.Context, s *stage, n int) error { return listed("owner="+owner(n), 10)(ctx, s, n) }},
		{"list: with a tag", func(ctx context.Context, s *stage, n int) error { return listed("tag="+tag(n), 10)(ctx, s, n) }},
		{"list: an owner's with a tag", func(ctx context.Context, s *stage, n int) error {
			return listed("tag="+tag(n)+"&owner="+owner(n), 10)(ctx, s, n)
		}},
		{"search: all links match", listed("q="+everywhere, 10)},
		{"search: none matches", listed("q="+nowhere, 0)},
		{"search: ten match, the oldest", listed("q="+tenfold, 10)},
		{"search: ten match, of one owner", listed("q="+tenfold+"&owner="+owner(0), 10)},
		{"search: one matches, by its number", one},
		{"search: one in a thousand matches", func(ctx context.Context, s *stage, n int) error {
			return listed(fmt.Sprintf("q="+rubric, n%rubrics), 1)(ctx, s, n)
		}},
		{"search: two letters that no link has", listed("q=qq", 0)},
		{"read", func(ctx context.Context, s *stage, n int) error {
			return s.want(ctx, http.StatusOK, http.MethodGet, s.some[n%len(s.some)], nil)
		}},
		{"create", func(ctx context.Context, s *stage, n int) error {
			return s.want(ctx, http.StatusCreated, http.MethodPost, "/links", map[string]any{"target": fmt.Sprintf("https://one.example.com/%d", n)})
		}},
		{"patch: the target", func(ctx context.Context, s *stage, n int) error {
			at := n % len(s.some)
			return s.want(ctx, http.StatusOK, http.MethodPatch, s.some[at], map[string]any{"target": fmt.Sprintf("%s&changed=%d", target(at), n)})
		}},
	}
}

// listed asks for a page and wants at least so many links on it.
func listed(query string, least int) func(context.Context, *stage, int) error {
	return func(ctx context.Context, s *stage, _ int) error {
		codes, _, err := s.api.List(ctx, query)
		if err == nil && len(codes) < least {
			err = fmt.Errorf("%s: %d links, want %d", query, len(codes), least)
		}
		return err
	}
}

// deep asks for a page behind others.
func deep(ctx context.Context, s *stage, n int) error {
	return listed("cursor="+url.QueryEscape(s.after), 10)(ctx, s, n)
}

// one looks for a link by the number in its target, another one each time.
func one(ctx context.Context, s *stage, n int) error {
	text := fmt.Sprintf("products/%d?", number(n*7919%s.made))
	return listed("q="+url.QueryEscape(text), 1)(ctx, s, n)
}

func (s *stage) want(ctx context.Context, status int, method, path string, body any) error {
	answer, err := s.api.Do(ctx, method, path, body)
	if err == nil && answer.Status != status {
		err = fmt.Errorf("%s %s: status %d, want %d: %s", method, path, answer.Status, status, answer.Body)
	}
	return err
}

func (s *stage) callsWithFewLinksAndMany(t *testing.T) {
	s.some = nil
	for _, l := range s.api.MustBulk(t, few, func(int) fleet.Fields { return s.items(1)[0] }) {
		s.some = append(s.some, "/links/"+l.Code)
	}
	s.rest(t)
	before := s.times(t)
	s.grow(t, s.many)
	s.rest(t)
	after := s.times(t)
	for i, c := range calls() {
		ratio := after[i].Millis(0.99) / before[i].Millis(0.99)
		s.Found(t, measure.Figure{
			Name: c.name, Unit: "calls each", N: after[i].N(),
			Values: []measure.Value{
				measure.Number(fmt.Sprintf("p50 at %d links", few), before[i].Millis(0.5), "ms"), measure.Number("p99", before[i].Millis(0.99), "ms"),
				measure.Number(fmt.Sprintf("p50 at %d links", s.made), after[i].Millis(0.5), "ms"), measure.Number("p99 ", after[i].Millis(0.99), "ms"),
				measure.Most("p99 / p99", ratio, most, ""),
			},
			Method: "A call every 10 ms by an open loop over four connections, of each kind by itself, at first with few links and then, on the same fleet, with many. " +
				"Before either, PostgreSQL may finish what it does in the background (autovacuum) for at most three minutes. " +
				"A creation or a change ends when both edges have acknowledged it. Which link is looked for or changed is another one each time.",
		})
	}
}

// times measures all kinds of calls, one after the other.
func (s *stage) times(t *testing.T) []measure.Sample {
	t.Helper()
	s.after = s.place(t, 9)
	var all []measure.Sample
	for _, c := range calls() {
		times := make([]time.Duration, s.Times(5, 600))
		_, err := measure.Pace{Every: 10 * time.Millisecond, Jobs: len(times), Workers: 4}.Run(t.Context(), func(_, job int) error {
			began := time.Now()
			err := c.do(t.Context(), s, job)
			times[job] = time.Since(began)
			return err
		})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		sample := measure.NewSample(times)
		t.Logf("with %d links, %s: p50 %.2f ms, p99 %.2f ms", s.made, c.name, sample.Millis(0.5), sample.Millis(0.99))
		all = append(all, sample)
	}
	return all
}

// place is the cursor behind so many pages of 100 links.
func (s *stage) place(t *testing.T, pages int) (cursor string) {
	t.Helper()
	for range pages {
		_, next, err := s.api.List(t.Context(), "limit=100&cursor="+url.QueryEscape(cursor))
		if err != nil || next == "" {
			t.Fatalf("a place in the list: %q, %v", next, err)
		}
		cursor = next
	}
	return cursor
}

// Autovacuum looks once a minute at what was written, and has its time then.
const (
	restLeast = 65 * time.Second
	restMost  = 3 * time.Minute
)

// rest waits until PostgreSQL does nothing in the background any more.
func (s *stage) rest(t *testing.T) {
	t.Helper()
	if !s.Full() {
		return
	}
	conn, err := pgx.Connect(t.Context(), s.Postgres.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
	began := time.Now()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for busy := true; time.Since(began) < restLeast || busy && time.Since(began) < restMost; <-tick.C {
		err := conn.QueryRow(t.Context(), `SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'`).Scan(&busy)
		if err != nil {
			t.Fatal(err)
		}
	}
}
