package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waypost/origin/internal/links"
)

// explain runs a statement and returns its plan, whose costs say nothing.
func explain(t *testing.T, pool *pgxpool.Pool, statement string, args ...any) string {
	t.Helper()
	return explainBy(t, pool, "ANALYZE, COSTS OFF, TIMING OFF", statement, args...)
}

func explainBy(t *testing.T, pool *pgxpool.Pool, options, statement string, args ...any) string {
	t.Helper()
	rows, err := pool.Query(t.Context(), "EXPLAIN ("+options+") "+statement, args...)
	if err != nil {
		t.Fatalf("explain: %v", err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("explain: %v", err)
	}
	return strings.Join(lines, "\n")
}

// The settings of these sessions make some plans absurdly dear, which PostgreSQL
// takes as a reason to compile them.
func TestTakingAUseCompilesNoPlan(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	if plan := explainBy(t, s.clicks, "ANALYZE", takeUse, 0, "", "none"); strings.Contains(plan, "JIT") {
		t.Errorf("it is compiled:\n%s", plan)
	}
}

// TestListsByClicksReadNoWholeTable looks at plans over 60,000 links that were
// clicked today, of which one owner has a third and another one five.
func TestListsByClicksReadNoWholeTable(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	today, err := s.today(t.Context())
	if err != nil {
		t.Fatalf("today: %v", err)
	}
	for _, statement := range []string{
		`INSERT INTO links (link_id, domain, code, shard, version, generated, target, target_hash, status, enabled,
			owner, title, tags, query, suffix, class, clicks, expired_url, max_clicks, created_at, updated_at)
		SELECT id, '', 'k' || id, id % 64, 1, true, 'https://a.example/', 0, 302, true,
			CASE WHEN id <= 5 THEN 'few' WHEN id % 3 = 0 THEN 'many' ELSE 'other' END, '', '{}', 'off', 'off', 'available', true, '', 0, now(), now()
		FROM generate_series(1, 60000) id`,
		`UPDATE click_link SET clicks = link_id`,
		`INSERT INTO click_day SELECT link_id, (now() AT TIME ZONE 'UTC')::date - d, clicks, 0
			FROM click_link, generate_series(0, 1) d`,
		`VACUUM ANALYZE click_link, click_day, links`,
	} {
		if _, err := s.clicks.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	few, many := "few", "many"
	middle := cursor{order: mostClicked, key: 30_000, id: 30_000}.text()
	list := func(f links.Filter, read func(l *listing) *query) (string, []any) {
		f.Sort = "clicks"
		l, err := newListing(f, term{})
		if err != nil {
			t.Fatalf("newListing: %v", err)
		}
		q := read(l)
		return q.text, q.args
	}
	direct := func(l *listing) *query { return l.direct(11) }
	first, firstArgs := list(links.Filter{}, direct)
	next, nextArgs := list(links.Filter{Cursor: middle}, direct)
	ofLittle, ofLittleArgs := list(links.Filter{Owner: &few}, func(l *listing) *query { return l.all(11) })
	ofMuch, ofMuchArgs := list(links.Filter{Owner: &many, Cursor: middle}, func(l *listing) *query { return l.next(farLinks, 11) })
	whole := func(plan string) bool {
		for _, sign := range []string{"Seq Scan on links", "Seq Scan on click_", "rows=60000 ", "rows=19999 "} {
			if strings.Contains(plan, sign) {
				return true
			}
		}
		return false
	}
	for _, tt := range []struct {
		name, statement string
		args            []any
	}{
		{"top", topOfAll, []any{today, 10}},
		{"top of an owner of much", topOfMany, []any{today, 10, many, candidates}},
		{"top of an owner of little", topOfFew, []any{today, 10, few}},
		{"list", first, firstArgs},
		{"list, in the middle", next, nextArgs},
		{"list of an owner of little", ofLittle, ofLittleArgs},
		{"list of an owner of much, in the middle", ofMuch, ofMuchArgs},
	} {
		if plan := explain(t, s.pool, tt.statement, tt.args...); whole(plan) {
			t.Errorf("%s reads a whole table:\n%s", tt.name, plan)
		}
	}
	if plan := explain(t, s.pool, topOfFew, today, 10, many); !whole(plan) {
		t.Errorf("the test does not find what it is for:\n%s", plan)
	}
	if top, err := s.TopLinks(t.Context(), today, &few, 10); err != nil || len(top) != 5 || top[0].Clicks != 5 {
		t.Errorf("top of an owner of little: %+v, %v", top, err)
	}
}
