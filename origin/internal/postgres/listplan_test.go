package postgres

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"waypost/origin/internal/links"
)

// fill makes n links, one a second: of all owners and domains a share, some with
// a tag or in their target a word that ten of them have, and in each target its
// number. The oldest twentieth has a tag of its own. Each is clicked as often as its
// number says.
func fill(t *testing.T, s *Store, n int) {
	t.Helper()
	for _, statement := range []string{
		fmt.Sprintf(`INSERT INTO links (link_id, domain, code, shard, version, generated, target, target_hash, status, enabled,
			owner, title, tags, query, suffix, class, clicks, expired_url, max_clicks, created_at, updated_at)
		SELECT id, CASE WHEN id %% 10 = 0 THEN 'go.example' ELSE '' END, 'k' || id, id %% 64, 1, true,
			'https://example.com/item/' || id || '?of=' || CASE WHEN id %% (%[1]d / 10) = 7 THEN 'rarity' ELSE 'spring' END, 0, 302, true,
			CASE WHEN id <= 5 THEN 'few' WHEN id %% 3 = 0 THEN 'many' ELSE 'other' END, 'Größe ' || id %% 7,
			ARRAY['all', CASE WHEN id <= %[1]d / 20 THEN 'old' WHEN id %% (%[1]d / 10) = 9 THEN 'rare' ELSE 't' || id %% 100 END],
			'off', 'off', 'available', true, '', 0, '2026-01-01'::timestamptz + id * interval '1 second', now()
		FROM generate_series(1, %[1]d) id`, n),
		`UPDATE click_link SET clicks = link_id`,
		`VACUUM ANALYZE click_link, links`,
	} {
		if _, err := s.clicks.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// TestListsReadNoMoreThanTheyMust counts what each statement of a list reads of
// 30,000 links, in tables and indexes.
func TestListsReadNoMoreThanTheyMust(t *testing.T) {
	t.Parallel()
	const n = 30_000
	s, sent := open(t)
	fill(t, s, n)
	s.reach = reach{near: 100, far: 600, only: 600}
	few, many, none, domain := "few", "many", "", "go.example"
	for _, f := range []links.Filter{
		{},
		{Owner: &many},
		{Owner: &few},
		{Owner: &none},
		{Domain: &domain},
		{Domain: &none},
		{Owner: &many, Domain: &domain},
		{Owner: &few, Domain: &domain},
		{Tag: "all"},
		{Tag: "rare"},
		{Tag: "none"},
		{Tag: "all", Owner: &many},
		{Tag: "rare", Owner: &many},
		{Tag: "all", Owner: &few},
		{Search: "EXAMPLE"},
		{Search: "rarity"},
		{Search: "größer"},
		{Search: "example.com/item/12345?"},
		{Search: "spring", Owner: &many},
		{Search: "rarity", Owner: &many},
		{Search: "spring", Owner: &few},
		{Search: "spring", Tag: "rare"},
		{Search: "rarity", Tag: "all"},
		{Search: "spring", Domain: &domain},
		{Search: "rarity", Domain: &domain, Tag: "all", Owner: &many},
		{Search: "e"},
		{Search: "zz"},
		{Search: "://", Owner: &many},
		{Search: "zz", Domain: &domain},
	} {
		for _, sort := range []string{"-created_at", "created_at", "clicks"} {
			for _, after := range []int64{0, n / 2} {
				f.Sort, f.Limit, f.Cursor = sort, 10, ""
				if after > 0 {
					c := cursor{order: orderOf(sort), key: after, id: after}
					if c.order != mostClicked {
						c.key = time.Date(2026, 1, 1, 0, 0, int(after), 0, time.UTC).UnixMicro()
					}
					f.Cursor = c.text()
				}
				sent.take()
				page, err := s.List(t.Context(), f)
				if err != nil {
					t.Fatalf("List %+v: %v", f, err)
				}
				name := fmt.Sprintf("owner %v, domain %v, tag %q, text %q, by %s, after %d", text(f.Owner), text(f.Domain), f.Tag, f.Search, sort, after)
				statements, args := sent.takeWithArgs()
				if len(statements) == 0 || len(statements) > 5 {
					t.Errorf("%s: %d statements, want 1 to 5", name, len(statements))
				}
				for i, statement := range statements {
					if got := rowsRead(t, s, statement, args[i]); got > 2_000 {
						t.Errorf("%s: %.0f rows read for %d links, want at most 2,000:\n%s\n%s", name, got, len(page.Links),
							statement, explain(t, s.pool, statement, args[i]...))
					}
				}
			}
		}
	}
	// The count does find what it is for.
	if got := rowsRead(t, s, `SELECT count(*) FROM links WHERE tags @> '{all}' AND deleted_at IS NULL`, nil); got < n {
		t.Errorf("what reads all links reads %.0f", got)
	}
}

func text(s *string) string {
	if s == nil {
		return "any"
	}
	return fmt.Sprintf("%q", *s)
}

// plan is a node of a plan that was carried out.
type plan struct {
	Node     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Rows     float64 `json:"Actual Rows"` // each time
	Loops    float64 `json:"Actual Loops"`
	Removed  float64 `json:"Rows Removed by Filter"`
	Lossy    float64 `json:"Rows Removed by Index Recheck"`
	Plans    []plan  `json:"Plans"`
}

// rowsRead carries a statement out and counts the rows that it reads of the
// tables of links and their clicks, and in bulk of indexes.
func rowsRead(t *testing.T, s *Store, statement string, args []any) float64 {
	t.Helper()
	var top []struct{ Plan plan }
	encoded := explainBy(t, s.pool, "ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON", statement, args...)
	if err := json.Unmarshal([]byte(encoded), &top); err != nil || len(top) != 1 {
		t.Fatalf("plan: %v\n%s", err, encoded)
	}
	return top[0].Plan.read()
}

func (p *plan) read() float64 {
	var n float64
	if p.Relation == "links" || p.Relation == "click_link" || p.Node == "Bitmap Index Scan" {
		n = (p.Rows + p.Removed + p.Lossy) * p.Loops
	}
	for i := range p.Plans {
		n += p.Plans[i].read()
	}
	return n
}
