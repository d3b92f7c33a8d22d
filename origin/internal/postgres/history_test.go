package postgres_test

import (
	"errors"
	"math"
	"strconv"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/link"
)

// history reads all of it.
func history(t *testing.T, s *postgres.Store, key link.Key) links.Past {
	t.Helper()
	past, err := s.History(t.Context(), key, links.Window{Limit: math.MaxInt32})
	if err != nil {
		t.Fatalf("History %s: %v", key, err)
	}
	return past
}

// by has a mutation made on behalf of an API key.
func by(key string, m links.Mutation) links.Mutation {
	m.By = key
	return m
}

func TestEveryWriteOfALinkIsInItsHistory(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	key := link.Key{Domain: "", Code: "x"}
	l := content("https://a.example/?a=1&b=<2>")
	l.Owner = "ann"
	mustWrite(t, s, by("k1", create(key, l)))
	mustWrite(t, s, by("k2", update(key, func(l *link.Link) { l.Title, l.ExpiresAt = "T", time.Date(2040, 1, 1, 0, 0, 0, 1999, time.UTC) })))
	if _, err := s.Purge(t.Context(), []link.Key{key}); err != nil {
		t.Fatalf("Purge: %v", err)
	}
	mustWrite(t, s, by("k3", update(key, func(*link.Link) {})))
	mustWrite(t, s, by("k4", remove(key)))
	mustWrite(t, s, by("k5", create(key, content("https://b.example/"))))
	back := update(key, func(l *link.Link) { l.Owner = "bob" })
	back.Rollback = true
	newest := mustWrite(t, s, by("k6", back)).Link
	mustWrite(t, s, by("k7", create(link.Key{Code: "other"}, content("https://a.example/"))))

	past := history(t, s, key)
	if past.Link.Version != newest.Version || past.Link.Owner != "bob" {
		t.Errorf("link = %+v, want it as it is", past.Link)
	}
	want := []struct {
		by, owner string
		action    links.Action
		changes   string
	}{
		{"k6", "bob", links.ActionRollback, `{"owner":{"from":"","to":"bob"}}`},
		{
			"k5", "", links.ActionRestore, `{"expires_at":{"from":"2040-01-01T00:00:00.000001Z","to":null},"owner":{"from":"ann","to":""},` +
				`"target":{"from":"https://a.example/?a=1&b=<2>","to":"https://b.example/"},"title":{"from":"T","to":""}}`,
		},
		{"k4", "ann", links.ActionDelete, `{}`},
		{"k3", "ann", links.ActionChange, `{}`},
		{"k2", "ann", links.ActionChange, `{"expires_at":{"from":null,"to":"2040-01-01T00:00:00.000001Z"},"title":{"from":"","to":"T"}}`},
		{"k1", "ann", links.ActionCreate, `{"owner":{"to":"ann"},"target":{"to":"https://a.example/?a=1&b=<2>"}}`},
	}
	if len(past.Entries) != len(want) {
		t.Fatalf("%d entries, want %d: %+v", len(past.Entries), len(want), past.Entries)
	}
	for i, w := range want {
		e := past.Entries[i]
		changes, err := e.Changes.Encode()
		if err != nil || e.By != w.by || e.Owner != w.owner || e.Action != w.action || string(changes) != w.changes {
			t.Errorf("entry %d = %+v with %s, want %+v", i, e, changes, w)
		}
		previous := uint64(0)
		if i+1 < len(want) {
			previous = past.Entries[i+1].Version
		}
		if e.Previous != previous || e.Previous >= e.Version || time.Since(e.At) > time.Hour {
			t.Errorf("entry %d = version %d after %d at %v, want it after %d", i, e.Version, e.Previous, e.At, previous)
		}
	}
	if past.Entries[0].Version != newest.Version || past.Entries[0].At != newest.UpdatedAt {
		t.Errorf("the newest entry is %+v, want that of %+v", past.Entries[0], newest)
	}
	if n := count(t, url, "link_history"); n != 7 {
		t.Errorf("%d rows, want 7", n)
	}
}

// The aliases are taken again by others twice.
func TestHistoryGoesOnAcrossTombstones(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key := link.Key{Domain: "", Code: "again"}
	for range 3 {
		mustWrite(t, s, create(key, content("https://a.example/")))
		mustWrite(t, s, remove(key))
	}
	past := history(t, s, key)
	if len(past.Entries) != 6 || past.Link.DeletedAt.IsZero() {
		t.Errorf("%d entries of %+v, want 6 of a tombstone", len(past.Entries), past.Link)
	}
	if _, err := s.History(t.Context(), link.Key{Code: "never"}, links.Window{Limit: 1}); !errors.Is(err, link.ErrNotFound) {
		t.Errorf("History of no link: %v, want ErrNotFound", err)
	}
}

func TestWindowsOfAHistory(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key := link.Key{Code: "x"}
	mustWrite(t, s, create(key, content("https://a.example/"))) // version 1
	for i := range 9 {
		mustWrite(t, s, update(key, func(l *link.Link) { l.Owner = []string{"ann", "bob"}[i%2] }))
	}
	ann, none := "ann", ""
	for _, tt := range []struct {
		name string
		w    links.Window
		want []uint64
	}{
		{"the newest", links.Window{Limit: 3}, []uint64{10, 9, 8}},
		{"the next", links.Window{Below: 8, Limit: 3}, []uint64{7, 6, 5}},
		{"the last", links.Window{Below: 3, Limit: 3}, []uint64{2, 1}},
		{"down to a version", links.Window{From: 8, Limit: 100}, []uint64{10, 9, 8}},
		{"an owner's", links.Window{Owner: &ann, Limit: 3}, []uint64{10, 8, 6}},
		{"nobody's", links.Window{Owner: &none, Limit: 3}, []uint64{1}},
		{"none", links.Window{Below: 1, Limit: 3}, nil},
	} {
		past, err := s.History(t.Context(), key, tt.w)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var got []uint64
		for _, e := range past.Entries {
			got = append(got, e.Version)
		}
		if len(got) != len(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
				break
			}
		}
	}
}

func TestHistoriesAreNumberedUnderParallelWrites(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	key := link.Key{Code: "x"}
	mustWrite(t, s, create(key, content("https://a.example/")))
	for _, r := range together(t, s, 50, func(i int) links.Mutation {
		return update(key, func(l *link.Link) { l.Title = strconv.Itoa(i) })
	}) {
		if r.Err != nil {
			t.Fatalf("Write: %v", r.Err)
		}
	}
	var broken int
	err := connect(t, url).QueryRow(t.Context(), `SELECT count(*) FROM (
		SELECT number, row_number() OVER w AS n, previous, coalesce(lag(version) OVER w, 0) AS before
		FROM link_history WINDOW w AS (ORDER BY version)) h WHERE number <> n OR previous <> before`).Scan(&broken)
	if err != nil || broken != 0 {
		t.Errorf("%d of 51 entries are out of order (%v)", broken, err)
	}
}

func TestOldEntriesArePruned(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	key := link.Key{Code: "x"}
	mustWrite(t, s, create(key, content("https://a.example/")))
	for range 4 {
		mustWrite(t, s, update(key, func(*link.Link) {}))
	}
	exec(t, url, `UPDATE link_history SET at = clock_timestamp() - interval '401 days' WHERE version <= 2`)
	exec(t, url, `UPDATE link_history SET at = clock_timestamp() - interval '399 days' WHERE version = 3`)
	if err := s.Prune(t.Context()); err != nil {
		t.Fatalf("Prune: %v", err)
	}
	if e := history(t, s, key).Entries; len(e) != 3 || e[2].Version != 3 {
		t.Errorf("%d entries, want those from version 3 on: %+v", len(e), e)
	}
	mustWrite(t, s, update(key, func(*link.Link) {}))
	if e := history(t, s, key).Entries; len(e) != 4 {
		t.Errorf("%d entries after another one, want 4", len(e))
	}
}

func TestLongHistoriesArePruned(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	long, short := link.Key{Code: "long"}, link.Key{Code: "short"}
	for _, key := range []link.Key{long, short} {
		mustWrite(t, s, create(key, content("https://a.example/")))
	}
	// As 2,549 changes of the one and 999 of the other would have left them.
	for key, n := range map[string]int{"long": 2549, "short": 999} {
		exec(t, url, `INSERT INTO link_history
			SELECT l.link_id, l.version + n, l.version + n - 1, 1 + n, now(), '', '', 'change', '{}'
			FROM links l, generate_series(1, $2::int) n WHERE l.code = $1`, key, n)
	}
	if err := s.Prune(t.Context()); err != nil {
		t.Fatalf("Prune: %v", err)
	}
	for key, want := range map[link.Key]int{long: 1050, short: 1000} {
		e := history(t, s, key).Entries
		if len(e) != want || e[0].Version-e[want-1].Version != uint64(want)-1 {
			t.Errorf("%s: %d entries, want the newest %d", key, len(e), want)
		}
	}
}
