package postgres_test

import (
	"slices"
	"testing"

	"waypost/shared/link"
)

func TestKeysAreFoundByTag(t *testing.T) {
	t.Parallel()
	s := registered(t, newStore(t))
	tagged := func(domain, code, owner string, tags ...string) {
		l := content("https://a.example/")
		l.Owner, l.Tags = owner, tags
		mustWrite(t, s, create(link.Key{Domain: domain, Code: code}, l))
	}
	tagged("", "b", "ann", "sale", "x")
	tagged("", "a", "bob", "sale")
	tagged("", "é", "ann", "sale")
	tagged("go.example", "a", "ann", "y", "sale")
	tagged("", "other", "ann", "sales")
	tagged("", "gone", "ann", "sale")
	mustWrite(t, s, remove(link.Key{Code: "gone"}))
	ann, nobody := "ann", ""
	all := []link.Key{{Code: "a"}, {Code: "b"}, {Code: "é"}, {Domain: "go.example", Code: "a"}}
	for _, tt := range []struct {
		name  string
		owner *string
		after link.Key
		limit int
		want  []link.Key
	}{
		{"of all", nil, link.Key{}, 10, all},
		{"first page", nil, link.Key{}, 2, all[:2]},
		{"second page", nil, all[1], 2, all[2:]},
		{"after the last", nil, all[3], 2, nil},
		{"of ann", &ann, link.Key{}, 10, all[1:]},
		{"of no owner", &nobody, link.Key{}, 10, nil},
	} {
		got, err := s.KeysByTag(t.Context(), tt.owner, "sale", tt.after, tt.limit)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
}
