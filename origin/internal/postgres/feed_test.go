package postgres_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/deploy/services"
	"waypost/origin/internal/links"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// connect opens a session of its own until the test's end.
func connect(tb testing.TB, url string) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), url)
	if err != nil {
		tb.Fatalf("connect: %v", err)
	}
	tb.Cleanup(func() {
		if err := conn.Close(context.Background()); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return conn
}

// exec runs a statement of a test on the database at url, past the store.
func exec(tb testing.TB, url, sql string, args ...any) {
	tb.Helper()
	if _, err := connect(tb, url).Exec(tb.Context(), sql, args...); err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
}

func TestChangesAreContiguousOrAReset(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	key := link.Key{Code: "k"}
	shard := feed.Shard(key.Hash())
	const n = feed.MaxChanges + 10
	ms := make([]links.Mutation, 0, n)
	for _, k := range sameShard(key, n) {
		ms = append(ms, create(k, content("https://a.example/")))
	}
	if _, err := s.Write(t.Context(), ms); err != nil {
		t.Fatalf("Write: %v", err)
	}
	check := func(name string, epoch, from uint64, wantReset bool, wantRows int) {
		t.Helper()
		c, err := s.Changes(t.Context(), shard, epoch, from)
		if err != nil {
			t.Fatalf("%s: Changes: %v", name, err)
		}
		if c.Epoch != 1 || c.Shard != shard || c.Head != n || c.Reset != wantReset || len(c.Rows) != wantRows {
			t.Errorf("%s: epoch %d, shard %d, head %d, reset %v, %d rows; want 1, %d, %d, %v, %d",
				name, c.Epoch, c.Shard, c.Head, c.Reset, len(c.Rows), shard, n, wantReset, wantRows)
		}
		for i, row := range c.Rows {
			if row.Seq != from+uint64(i)+1 {
				t.Fatalf("%s: row %d has position %d, want %d", name, i, row.Seq, from+uint64(i)+1)
			}
		}
	}
	check("from the start", 1, 0, false, feed.MaxChanges)
	check("next page", 1, feed.MaxChanges, false, 10)
	check("at the head", 1, n, false, 0)
	check("beyond the head", 1, n+1, true, 0)
	check("far beyond the head", 1, 1<<63+5, true, 0)
	check("another epoch", 2, 0, true, 0)
	exec(t, url, `DELETE FROM outbox WHERE shard = $1 AND seq <= 100`, shard)
	check("not kept", 1, 99, true, 0)
	check("kept", 1, 100, false, n-100)
	exec(t, url, `DELETE FROM outbox WHERE shard = $1`, shard)
	check("none kept", 1, 100, true, 0)
	check("none kept, at the head", 1, n, false, 0)
}

func TestOneAnswerOfChangesIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key := link.Key{Code: "k"}
	var ms []links.Mutation
	for _, k := range sameShard(key, 100) {
		ms = append(ms, create(k, content("https://a.example/"+strings.Repeat("a", 30_000))))
	}
	if _, err := s.Write(t.Context(), ms); err != nil {
		t.Fatalf("Write: %v", err)
	}
	c, err := s.Changes(t.Context(), feed.Shard(key.Hash()), 1, 0)
	if err != nil {
		t.Fatalf("Changes: %v", err)
	}
	if size := len(c.Append(nil)); len(c.Rows) == 0 || size < 1<<20 || size > 1<<20+64<<10 {
		t.Errorf("%d rows in %d bytes, want about 1 MiB", len(c.Rows), size)
	}
}

func TestCodesPageThroughAllKeysOfAShard(t *testing.T) {
	t.Parallel()
	s := registered(t, newStore(t))
	key := link.Key{Code: "k"}
	shard := feed.Shard(key.Hash())
	keys := sameShard(key, 30)
	for _, k := range sameShard(link.Key{Domain: "go.example", Code: "Ü"}, 5) {
		mustWrite(t, s, create(k, content("https://other.example/")))
	}
	for _, k := range keys {
		mustWrite(t, s, create(k, content("https://a.example/")))
	}
	mustWrite(t, s, remove(keys[3]))
	c, err := s.Codes(t.Context(), shard, link.Key{})
	if err != nil {
		t.Fatalf("Codes: %v", err)
	}
	slices.SortFunc(keys, func(a, b link.Key) int { return strings.Compare(a.Code, b.Code) })
	var want []uint64
	for _, k := range keys {
		want = append(want, k.Hash())
	}
	if c.Epoch != 1 || c.Head != 31 || c.More || c.Last != keys[29] || !reflect.DeepEqual(c.Hashes, want) {
		t.Errorf("codes %+v, want %d hashes in order of codes, last %s", c, len(want), keys[29])
	}
	c, err = s.Codes(t.Context(), shard, keys[20])
	if err != nil || !reflect.DeepEqual(c.Hashes, want[21:]) {
		t.Errorf("codes after %s: %+v, %v, want %d hashes", keys[20], c, err, len(want[21:]))
	}
	c, err = s.Codes(t.Context(), shard, keys[29])
	if err != nil || len(c.Hashes) != 0 || c.More || c.Last != keys[29] || c.Head != 31 {
		t.Errorf("codes after the last: %+v, %v, want none", c, err)
	}
}

func TestCodesOfALargeShardComeInFullPages(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	exec(t, url, `INSERT INTO links SELECT n, 'go.example', 'c' || n, 9, n, true, 't', 1, 302, true, '', '', '{}', 'off', 'off',
		'available', true, NULL, NULL, '', 0, now(), now(), NULL FROM generate_series(1, $1) n`, feed.MaxCodes+5)
	seen := make(map[uint64]bool)
	var after link.Key
	for page := range 3 {
		c, err := s.Codes(t.Context(), 9, after)
		if err != nil {
			t.Fatalf("Codes: %v", err)
		}
		for _, h := range c.Hashes {
			seen[h] = true
		}
		wantLen, wantMore := feed.MaxCodes, true
		if page == 1 {
			wantLen, wantMore = 5, false
		}
		if len(c.Hashes) != wantLen || c.More != wantMore {
			t.Fatalf("page %d: %d hashes, more %v, want %d, %v", page, len(c.Hashes), c.More, wantLen, wantMore)
		}
		if after = c.Last; !c.More {
			break
		}
	}
	for n := 1; n <= feed.MaxCodes+5; n++ {
		if k := (link.Key{Domain: "go.example", Code: "c" + strconv.Itoa(n)}); !seen[k.Hash()] {
			t.Fatalf("%s is on no page", k)
		}
	}
}

func TestConfigRowsArePositionsOfTheirShard(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	cfg, err := s.Config(t.Context())
	if err != nil || cfg.Epoch != 1 || cfg.Seq != 0 || cfg.Len() != 0 {
		t.Fatalf("Config = %+v, %v, want none at 0", cfg, err)
	}
	for i, step := range []struct {
		row, value string
		kind       feed.Kind // 0: no change
	}{
		{"domain/a.example", `{"host":"a.example"}`, feed.Create},
		{"domain/a.example", `{"host":"a.example"}`, 0},
		{"domain/b.example", `{"host":"b.example"}`, feed.Create},
		{"domain/a.example", `{"host": "a.example"}`, feed.Changed},
		{"domain/b.example", "", feed.Changed},
		{"domain/b.example", "", 0},
	} {
		c := mustSetRow(t, s, step.row, step.value)
		if step.kind == 0 {
			if c != nil {
				t.Errorf("step %d: change %+v, want none", i, c)
			}
			continue
		}
		if c == nil || c.Kind != step.kind || c.Seq != cfg.Seq+1 || c.Key != (link.Key{Code: step.row}) || c.Value != step.value {
			t.Fatalf("step %d: change %+v, want %+v at %d", i, c, step, cfg.Seq+1)
		}
		cfg = cfg.With(c)
		got, err := s.Config(t.Context())
		if err != nil || got.Epoch != cfg.Epoch || got.Seq != cfg.Seq || !reflect.DeepEqual(rowsOf(t, got), rowsOf(t, cfg)) {
			t.Errorf("step %d: config %+v, %v, want %+v", i, got, err, cfg)
		}
	}
	changes, err := s.Changes(t.Context(), feed.ConfigShard, 1, 0)
	if err != nil || changes.Reset || len(changes.Rows) != 4 {
		t.Errorf("changes %+v, %v, want 4 rows", changes, err)
	}
}

// rowsOf is a config as it goes over the wire.
func rowsOf(t *testing.T, cfg *feed.Config) (read struct{ Rows map[string]string }) {
	t.Helper()
	if err := json.Unmarshal(cfg.Append(nil), &read); err != nil {
		t.Fatal(err)
	}
	return read
}

func TestHeadsTellPostgresClock(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key := link.Key{Code: "k"}
	before := time.Now().UnixMicro()
	mustWrite(t, s, create(key, content("https://a.example/")))
	h, err := s.Heads(t.Context())
	if err != nil {
		t.Fatalf("Heads: %v", err)
	}
	want := &feed.Heads{Epoch: 1, Now: h.Now, Bound: time.Second.Microseconds()}
	want.Seq[feed.Shard(key.Hash())] = 1
	// Server and test are one machine, so their clock is the same.
	if !reflect.DeepEqual(h, want) || h.Now < before || h.Now > time.Now().UnixMicro() {
		t.Errorf("heads %+v, want %+v with a time after %d", h, want, before)
	}
}
