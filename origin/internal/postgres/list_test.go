package postgres_test

import (
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"testing"

	"waypost/deploy/services"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/link"
)

// list returns the codes of all pages.
func list(t *testing.T, s *postgres.Store, f links.Filter) []string {
	t.Helper()
	var got []string
	for range 100 {
		page, err := s.List(t.Context(), f)
		if err != nil {
			t.Fatalf("List %+v: %v", f, err)
		}
		if len(page.Links) > f.Limit || page.Next != "" && len(page.Links) != f.Limit {
			t.Fatalf("page of %d links with next %q, limit %d", len(page.Links), page.Next, f.Limit)
		}
		for _, l := range page.Links {
			got = append(got, l.Key.Code)
		}
		if page.Next == "" {
			return got
		}
		f.Cursor = page.Next
	}
	t.Fatal("the list does not end")
	return nil
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	s := registered(t, newStore(t))
	for _, l := range []link.Link{
		{Key: link.Key{Code: "a"}, Target: "https://one.example/", Owner: "ann", Tags: []string{"x", "y"}},
		{Key: link.Key{Code: "b"}, Target: "https://two.example/100%25", Owner: "ben", Tags: []string{"x"}},
		{Key: link.Key{Code: "c_c", Domain: "go.example"}, Target: "https://three.example/", Title: "Größe"},
		{Key: link.Key{Code: "d"}, Target: `https://four.example/?a\b`, Owner: "ann"},
		{Key: link.Key{Code: "café"}, Target: "https://five.example/", Owner: "eve"},
	} {
		l.Status = 302
		mustWrite(t, s, create(l.Key, &l))
	}
	mustWrite(t, s, create(link.Key{Code: "gone"}, content("https://one.example/")))
	mustWrite(t, s, remove(link.Key{Code: "gone"}))
	text := func(s string) *string { return &s }
	for _, tt := range []struct {
		name string
		f    links.Filter
		want []string
	}{
		{"all, newest first", links.Filter{}, []string{"café", "d", "c_c", "b", "a"}},
		{"oldest first", links.Filter{Sort: "created_at"}, []string{"a", "b", "c_c", "d", "café"}},
		{"newest first by name", links.Filter{Sort: "-created_at"}, []string{"café", "d", "c_c", "b", "a"}},
		{"owner", links.Filter{Owner: text("ann")}, []string{"d", "a"}},
		{"no owner", links.Filter{Owner: text("")}, []string{"c_c"}},
		{"domain", links.Filter{Domain: text("go.example")}, []string{"c_c"}},
		{"default domain", links.Filter{Domain: text("")}, []string{"café", "d", "b", "a"}},
		{"tag", links.Filter{Tag: "x"}, []string{"b", "a"}},
		{"tag and owner", links.Filter{Tag: "x", Owner: text("ann")}, []string{"a"}},
		{"no such tag", links.Filter{Tag: "z"}, nil},
		{"search target", links.Filter{Search: "ONE.EX"}, []string{"a"}},
		{"search title", links.Filter{Search: "größe"}, []string{"c_c"}},
		{"search code of another case", links.Filter{Search: "CAFÉ"}, []string{"café"}},
		{"search title of another case", links.Filter{Search: "GRÖ"}, []string{"c_c"}},
		{"search code, underscore is no pattern", links.Filter{Search: "_c"}, []string{"c_c"}},
		{"percent is no pattern", links.Filter{Search: "0%"}, []string{"b"}},
		{"backslash is no escape", links.Filter{Search: `\b`}, []string{"d"}},
	} {
		for _, limit := range []int{1, 3, 100} {
			tt.f.Limit = limit
			if got := list(t, s, tt.f); !slices.Equal(got, tt.want) {
				t.Errorf("%s, by %d: %q, want %q", tt.name, limit, got, tt.want)
			}
		}
	}
}

func TestAListIsStableWhileLinksAreMadeAndDeleted(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var want []string
	for i := range 20 {
		code := "k" + strconv.Itoa(i)
		mustWrite(t, s, create(link.Key{Code: code}, content("https://a.example/")))
		want = append(want, code)
	}
	slices.Reverse(want)
	var got []string
	f := links.Filter{Limit: 3}
	for {
		page, err := s.List(t.Context(), f)
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		for _, l := range page.Links {
			got = append(got, l.Key.Code)
		}
		if page.Next == "" {
			break
		}
		f.Cursor = page.Next
		mustWrite(t, s, create(link.Key{Code: "new" + strconv.Itoa(len(got))}, content("https://a.example/")))
		// The page's last link, which the cursor names, may go as well.
		mustWrite(t, s, remove(link.Key{Code: got[len(got)-1]}))
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}

func TestForeignCursorsAreRefused(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, code := range []string{"a", "b"} {
		mustWrite(t, s, create(link.Key{Code: code}, content("https://a.example/")))
	}
	page, err := s.List(t.Context(), links.Filter{Limit: 1})
	if err != nil || page.Next == "" {
		t.Fatalf("List = %+v, %v, want a cursor", page, err)
	}
	far := append([]byte{1, 0x7f}, make([]byte, 15)...)
	for _, f := range []links.Filter{
		{Cursor: "x"},
		{Cursor: page.Next + "A"},
		{Cursor: page.Next[1:]},
		{Cursor: page.Next, Sort: "created_at"},
		{Cursor: base64.RawURLEncoding.EncodeToString(far)},
	} {
		f.Limit = 1
		_, err := s.List(t.Context(), f)
		if _, ok := errors.AsType[*link.InvalidError](err); !ok {
			t.Errorf("List with cursor %q, sort %q: %v, want an InvalidError", f.Cursor, f.Sort, err)
		}
	}
}

func TestAListByClicksHasTheMostClickedFirst(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	l := &log{boot: "b", region: "eu"}
	clicks := map[string]int{"a": 3, "b": 7, "c": 0, "d": 7, "e": 1, "f": 0}
	ids := make(map[string]int64)
	for _, code := range []string{"a", "b", "c", "d", "e", "f", "gone"} {
		made := content("https://a.example/")
		made.Tags = []string{code}
		if code == "b" || code == "e" {
			made.Owner = "ann"
		}
		ids[code] = mustWrite(t, s, create(link.Key{Code: code}, made)).Link.ID
		apply(t, s, l.stretch(append(many(ids[code], noon(0), clicks[code]), visit{link: ids["a"] + 1_000, at: noon(0)})...))
	}
	mustWrite(t, s, remove(link.Key{Code: "gone"}))
	ann := "ann"
	for _, tt := range []struct {
		name string
		f    links.Filter
		want []string
	}{
		{"all", links.Filter{}, []string{"d", "b", "a", "e", "f", "c"}},
		{"owner", links.Filter{Owner: &ann}, []string{"b", "e"}},
		{"tag", links.Filter{Tag: "c"}, []string{"c"}},
	} {
		for _, limit := range []int{1, 2, 3, 100} {
			tt.f.Sort, tt.f.Limit = "clicks", limit
			if got := list(t, s, tt.f); !slices.Equal(got, tt.want) {
				t.Errorf("%s, by %d: %q, want %q", tt.name, limit, got, tt.want)
			}
		}
	}
	// One that is clicked while the list is read stands on no two pages.
	page, err := s.List(t.Context(), links.Filter{Sort: "clicks", Limit: 3})
	if err != nil || page.Next == "" {
		t.Fatalf("List: %+v, %v", page, err)
	}
	apply(t, s, l.stretch(append(many(ids["a"], noon(0), 50), many(ids["f"], noon(0), 2)...)...))
	if got, want := list(t, s, links.Filter{Sort: "clicks", Limit: 3, Cursor: page.Next}), []string{"f", "e", "c"}; !slices.Equal(got, want) {
		t.Errorf("the rest of the list is %q, want %q", got, want)
	}
	for _, sort := range []string{"", "created_at"} {
		_, err := s.List(t.Context(), links.Filter{Sort: sort, Limit: 3, Cursor: page.Next})
		if _, ok := errors.AsType[*link.InvalidError](err); !ok {
			t.Errorf("a cursor of a list by clicks for sort %q: %v, want an InvalidError", sort, err)
		}
	}
}

func TestTwoLettersAreLookedForPageByPage(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	exec(t, url, `INSERT INTO links (link_id, domain, code, shard, version, generated, target, target_hash, status, enabled,
			owner, title, tags, query, suffix, class, clicks, expired_url, max_clicks, created_at, updated_at)
		SELECT id, '', 'k' || id, id % 64, 1, true, 'https://a.example/', 0, 302, true, CASE WHEN id % 12000 IN (1, 2) THEN 'ann' ELSE '' END,
			CASE WHEN id IN (2, 5, 5001) THEN 'ZZ' ELSE '' END, CASE WHEN id = 2 THEN ARRAY['x'] ELSE '{}' END,
			'off', 'off', 'available', true, '', 0, '2026-01-01'::timestamptz + id * interval '1 second', now()
		FROM generate_series(1, 12000) id`)
	var pages []int
	f := links.Filter{Search: "zz", Limit: 10}
	for {
		page, err := s.List(t.Context(), f)
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		pages = append(pages, len(page.Links))
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	// 12,000 to 7,001, then to 2,001, then the rest.
	if want := []int{0, 1, 2}; !slices.Equal(pages, want) {
		t.Errorf("links on the pages: %v, want %v", pages, want)
	}
	// What is found by something else is there at once.
	ann := "ann"
	for name, f := range map[string]links.Filter{
		"tag": {Search: "zz", Tag: "x"}, "owner": {Search: "zz", Owner: &ann}, "owner, by clicks": {Search: "zz", Owner: &ann, Sort: "clicks"},
	} {
		f.Limit = 10
		if page, err := s.List(t.Context(), f); err != nil || len(page.Links) != 1 || page.Next != "" {
			t.Errorf("%s: %d links, next %q, %v, want one and none", name, len(page.Links), page.Next, err)
		}
	}
}
