package postgres

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// TestPagesHaveEveryLinkOnceWhateverHappensMeanwhile goes through lists by all
// kinds of filters, while links are made and deleted between their pages. What
// stands unchanged from the first page to the last one must be there exactly
// once and in order, as PostgreSQL says it by a plain statement; of the rest there
// may be some.
func TestPagesHaveEveryLinkOnceWhateverHappensMeanwhile(t *testing.T) {
	t.Parallel()
	const seed = 1
	s, _ := open(t)
	s.reach = reach{near: 4, far: 11, only: 9} // so that lists of few links are found in all ways
	if _, err := s.pool.Exec(t.Context(), `INSERT INTO config_row (name, value) VALUES ($1, '{}')`, feed.DomainRow("go.example")); err != nil {
		t.Fatalf("domain: %v", err)
	}
	w := &world{t: t, s: s, rand: rand.New(rand.NewPCG(seed, 0))}
	for range 150 {
		w.create()
	}
	times := 120
	if testing.Short() {
		times = 40
	}
	for range times {
		if _, err := s.pool.Exec(t.Context(), `UPDATE click_link SET clicks = floor(random() * 5)`); err != nil {
			t.Fatalf("clicks: %v", err)
		}
		w.page(w.filter())
	}
}

// world is a store whose links are made of few words.
type world struct {
	t    *testing.T
	s    *Store
	rand *rand.Rand
	made int
	live []link.Key
}

func pick[T any](w *world, all ...T) T { return all[w.rand.IntN(len(all))] }

func (w *world) create() {
	w.t.Helper()
	w.made++
	key := link.Key{Domain: pick(w, "", "", "go.example"), Code: pick(w, "Café", "q", "a_b", "x%y", "北京") + fmt.Sprint(w.made)}
	l := link.Link{
		Target: "https://" + pick(w, "one", "Two", "three") + ".example/" + pick(w, "", "Item", "a%5Cb", "xy/zz") + fmt.Sprint(w.made%9),
		Title:  pick(w, "", "Größe", "GRÖSSE", "ΟΔΟΣ", "οδος", "İstanbul", "京都へ", "100 %", "Żółć"),
		Owner:  pick(w, "", "ann", "ben"),
		Status: 302, Enabled: true,
	}
	for _, tag := range []string{"x", "y"} {
		if w.rand.IntN(3) == 0 {
			l.Tags = append(l.Tags, tag)
		}
	}
	w.write(links.Mutation{Key: key, Merge: func(*link.Link, time.Time) (*link.Link, error) { return &l, nil }})
	w.live = append(w.live, key)
}

func (w *world) remove() {
	w.t.Helper()
	i := w.rand.IntN(len(w.live))
	w.write(links.Mutation{Key: w.live[i], Merge: func(old *link.Link, now time.Time) (*link.Link, error) {
		l := *old
		l.DeletedAt = now
		return &l, nil
	}})
	w.live = slices.Delete(w.live, i, i+1)
}

func (w *world) write(m links.Mutation) {
	w.t.Helper()
	results, err := w.s.Write(w.t.Context(), []links.Mutation{m})
	if err == nil {
		err = results[0].Err
	}
	if err != nil {
		w.t.Fatalf("write %s: %v", m.Key, err)
	}
}

func (w *world) filter() links.Filter {
	f := links.Filter{
		Search: pick(w, "", "", "one", "TWO.ex", "example/item", "größe", "οδοσ", "ΟΔΟΣ", "istan", "İST", "京都", "北", "zz", "q", "_", "%", `\`, "1", "żół", "nowhere", "://", "a%5cb"),
		Tag:    pick(w, "", "", "x", "z"),
		Sort:   pick(w, "", "created_at", "-created_at", "clicks"),
		Limit:  pick(w, 1, 2, 5, 30),
	}
	if w.rand.IntN(2) == 0 {
		f.Owner = new(pick(w, "", "ann", "ben", "nobody"))
	}
	if w.rand.IntN(3) == 0 {
		f.Domain = new(pick(w, "", "go.example"))
	}
	return f
}

// page goes through a list, and makes and deletes a link after each page.
func (w *world) page(f links.Filter) {
	w.t.Helper()
	name := fmt.Sprintf("owner %s, domain %s, tag %q, text %q, by %q, %d a page", text(f.Owner), text(f.Domain), f.Tag, f.Search, f.Sort, f.Limit)
	before := w.expected(f)
	ever := map[int64]bool{}
	var got []int64
	for {
		for _, id := range w.expected(f) {
			ever[id] = true
		}
		page, err := w.s.List(w.t.Context(), f)
		if err != nil {
			w.t.Fatalf("%s: %v", name, err)
		}
		for _, l := range page.Links {
			got = append(got, l.ID)
		}
		if len(page.Links) > f.Limit || len(got) > 1000 {
			w.t.Fatalf("%s: %d links on a page, %d in all", name, len(page.Links), len(got))
		}
		if page.Next == "" {
			break
		}
		f.Cursor = page.Next
		w.create()
		w.remove()
	}
	f.Cursor = ""
	after := w.expected(f)
	stayed := func(id int64) bool { return slices.Contains(before, id) && slices.Contains(after, id) }
	want := slices.DeleteFunc(slices.Clone(before), func(id int64) bool { return !stayed(id) })
	kept := slices.DeleteFunc(slices.Clone(got), func(id int64) bool { return !stayed(id) })
	if !slices.Equal(kept, want) {
		w.t.Errorf("%s: of what stayed, the pages have %v, want %v", name, kept, want)
	}
	seen := map[int64]bool{}
	for _, id := range got {
		if seen[id] || !ever[id] {
			w.t.Errorf("%s: link %d is there twice, or should never have been there: %v", name, id, got)
		}
		seen[id] = true
	}
}

// expected are the ids of a whole list, by a plain statement.
func (w *world) expected(f links.Filter) []int64 {
	w.t.Helper()
	order := map[string]string{"": "l.created_at DESC", "-created_at": "l.created_at DESC", "created_at": "l.created_at", "clicks": "c.clicks DESC"}[f.Sort]
	tie := " DESC"
	if f.Sort == "created_at" {
		tie = ""
	}
	rows, err := w.s.pool.Query(w.t.Context(), `SELECT l.link_id FROM links l JOIN click_link c USING (link_id)
		WHERE deleted_at IS NULL AND ($1::text IS NULL OR owner = $1) AND ($2::text IS NULL OR domain = $2) AND ($3 = '' OR $3 = ANY (tags))
			AND (code COLLATE "und-x-icu" ILIKE $4 OR target COLLATE "und-x-icu" ILIKE $4 OR title COLLATE "und-x-icu" ILIKE $4)
		ORDER BY `+order+`, l.link_id`+tie, f.Owner, f.Domain, f.Tag, pattern(f.Search))
	if err != nil {
		w.t.Fatalf("expected: %v", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		w.t.Fatalf("expected: %v", err)
	}
	return ids
}
