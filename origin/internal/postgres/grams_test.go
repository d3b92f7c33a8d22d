package postgres

import (
	"slices"
	"strings"
	"testing"

	"waypost/origin/internal/links"
)

func TestGramsAreWhatTheIndexFindsLinksBy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"a", nil},
		{"ab", nil},
		{"abc", []string{"abc"}},
		{"abcd", []string{"abc", "bcd"}},
		{"größe", []string{"grö", "röß", "öße"}},
		{"北京市", []string{"北京市"}},
		{"ab/", []string{"ab/"}},
		{"/ab", []string{"/ab"}},
		{"/a/b/", nil},
		{"://", nil},
		{"%_\\", nil},
		{"a.bc", []string{".bc"}},
		{"\xff\xff\xff", nil},
	} {
		if got := grams(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("grams of %q: %q, want %q", tt.text, got, tt.want)
		}
	}
	long := grams("first" + strings.Repeat("0123456789", 20) + "last")
	if len(long) != maxGrams || long[0] != "fir" || long[maxGrams-1] != "ast" {
		t.Errorf("grams of a long text: %q, want %d from its beginning to its end", long, maxGrams)
	}
}

// TestEveryGramRestrictsTheIndex asks the index itself: of a gram that it cannot
// look up it returns all that it has.
func TestEveryGramRestrictsTheIndex(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	fill(t, s, 3000)
	for _, text := range []string{"xyz", "q7q", "/qx", "qx/", "grüße", "ñandú", "жзщ", "北京市", "_qx", `qx\`, "qx%"} {
		for _, gram := range grams(text) {
			plan := explain(t, s.pool, `SELECT link_id FROM links WHERE search LIKE $1 AND deleted_at IS NULL`, pattern(gram))
			if !strings.Contains(plan, "Bitmap Index Scan on links_search (actual rows=0 ") {
				t.Errorf("%q, of which there is none, reads more of the index than nothing:\n%s", gram, plan)
			}
		}
	}
}

func TestASampleTellsWhatIsRare(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	fill(t, s, 3000)
	sample := func(f links.Filter) (many bool, rarest []string) {
		t.Helper()
		l, err := newListing(f, term{folded: f.Search, grams: grams(f.Search)})
		if err != nil {
			t.Fatalf("newListing: %v", err)
		}
		if many, err = s.sample(t.Context(), l); err != nil {
			t.Fatalf("sample: %v", err)
		}
		return many, l.grams
	}
	met := 0 // of ten samples one has the link, as a tenth of the links is in each
	for range 20 {
		many, got := sample(links.Filter{Search: "item/1234?of"})
		slices.Sort(got) // which of them comes first is for the sample to say
		if want := []string{"/12", "123", "234", "34?"}; !slices.Equal(got, want) {
			t.Errorf("one link: rarest %q, want %q", got, want)
		}
		if many {
			met++
		}
	}
	if met > 10 {
		t.Errorf("one link: many in %d of 20 samples", met)
	}
	owner := "other"
	if many, got := sample(links.Filter{Search: "abc", Owner: &owner}); many || !slices.Equal(got, []string{"abc"}) {
		t.Errorf("no link: many %v, rarest %q", many, got)
	}
	if many, got := sample(links.Filter{Tag: "all", Owner: &owner}); !many || len(got) != 0 {
		t.Errorf("most links: many %v, rarest %q", many, got)
	}
	if many, _ := sample(links.Filter{Search: "spring", Tag: "rare", Owner: &owner}); many {
		t.Error("no link with all of it: many")
	}
}

func FuzzGrams(f *testing.F) {
	for _, seed := range []string{"", "abc", "größe 北京", "%_\\ab%", "\xff\xfeabc", strings.Repeat("a", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := grams(text)
		if len(got) > maxGrams {
			t.Errorf("%d grams of %q, want at most %d", len(got), text, maxGrams)
		}
		for _, gram := range got {
			if !strings.Contains(text, gram) || len([]rune(gram)) != gramLength {
				t.Errorf("gram %q of %q is no part of it of %d characters", gram, text, gramLength)
			}
		}
	})
}
