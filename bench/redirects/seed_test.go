package redirects

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"waypost/bench/fleet"
)

// Rows of a link that differ from one link to the other: what it is called, and when and by whom it was made.
const (
	linkRow    = `SELECT (to_jsonb(l) - '{link_id,code,shard,version,search,created_at,updated_at}'::text[])::text FROM links l WHERE code = $1`
	historyRow = `SELECT (to_jsonb(h) - '{history_id,version,at,by_key}'::text[])::text FROM links l JOIN link_history h ON h.history_id = l.link_id AND h.version = l.version WHERE code = $1`
	clickRow   = `SELECT (to_jsonb(c) - 'link_id')::text FROM links l JOIN click_link c USING (link_id) WHERE code = $1`
)

// enough are links in a number for which indexes are made anew.
const enough = 20_000

func TestSeededLinksAreAsIfTheyHadBeenCreated(t *testing.T) {
	t.Parallel()
	f := fleet.Prepare(t, fleet.Spec{Binaries: binaries, Edges: []string{"eu"}})
	f.LaunchOrigins(t)
	conn, err := pgx.Connect(t.Context(), f.DatabaseURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // it only looked
	links := population(100 + enough)
	before := indexes(t, conn)
	first := f.Seed(t, links[:100])
	second := f.Seed(t, links[100:])
	if after := indexes(t, conn); len(before) == 0 || !slices.Equal(before, after) {
		t.Errorf("indexes of links: got %q, want %q", after, before)
	}
	for _, i := range []int{0, 1, enough - 1} {
		want := second.Entry(i)
		query := url.Values{"domain": {""}, "code": {want.Key.Code}, "epoch": {strconv.FormatUint(want.Epoch, 10)}, "min": {strconv.FormatUint(want.AsOf, 10)}}
		code, got, err := f.Origins[0].Ask(t.Context(), "/v1/fill?"+query.Encode())
		if err != nil || code != http.StatusOK || !bytes.Equal(got, want.Append(nil)) {
			t.Errorf("fill of %s: got %d %q, error %v, want %q", want.Key, code, got, err, want.Append(nil))
		}
	}
	made := f.API(t).MustCreate(t, fleet.Fields{"alias": "made", "target": links[99].Target})
	for _, row := range []string{linkRow, historyRow, clickRow} {
		want := object(t, conn, row, made.Code)
		if got := object(t, conn, row, links[99].Code); got != want {
			t.Errorf("%s: got %s, want %s as of a link that the API made", row, got, want)
		}
	}
	f.LaunchEdges(t)
	f.Settle(t)
	for _, l := range []fleet.Link{first.Links[0], second.Links[0]} {
		changed := f.API(t).MustPatch(t, l, fleet.Fields{"target": "https://example.com/changed"})
		if changed.Version <= l.Version {
			t.Errorf("%s: got version %d after a change, want one beyond %d", l.Code, changed.Version, l.Version)
		}
		if got := f.Edges[0].Get(t, l.Path()).Location(); got != changed.Target {
			t.Errorf("%s: got a redirect to %q, want %q", l.Code, got, changed.Target)
		}
	}
}

// TestHeldLinksAreHitsOfL2 sees to it that what is stored there by hand is taken by an edge as its own.
func TestHeldLinksAreHitsOfL2(t *testing.T) {
	t.Parallel()
	f := fleet.Prepare(t, fleet.Spec{Binaries: binaries, Edges: []string{"eu"}})
	f.LaunchOrigins(t)
	seeded := f.Seed(t, population(3))
	l2 := f.L2(t, "eu")
	if err := l2.Hold(t.Context(), seeded, []int{0, 2}); err != nil {
		t.Fatal(err)
	}
	if err := l2.Forget(t.Context(), seeded.Links[2:]); err != nil {
		t.Fatal(err)
	}
	f.LaunchEdges(t)
	f.Settle(t)
	for i, want := range []string{"l2", "origin", "origin"} {
		got := f.Edges[0].Get(t, seeded.Links[i].Path())
		if got.Tier() != want || got.Location() != seeded.Links[i].Target {
			t.Errorf("link %d: got tier %q to %q, want %q to %q", i, got.Tier(), got.Location(), want, seeded.Links[i].Target)
		}
	}
}

// indexes are the definitions of those of links.
func indexes(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT indexdef FROM pg_indexes WHERE tablename = 'links' ORDER BY indexname`)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// object reads a row of a link's, as JSON.
func object(t *testing.T, conn *pgx.Conn, statement, code string) string {
	t.Helper()
	var row string
	if err := conn.QueryRow(t.Context(), statement, code).Scan(&row); err != nil {
		t.Fatalf("%s of %s: %v", statement, code, err)
	}
	return row
}
