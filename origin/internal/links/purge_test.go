package links_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func (m *memory) Purge(_ context.Context, keys []link.Key) ([]links.Result, error) {
	if m.fails != nil {
		return nil, m.fails
	}
	results := make([]links.Result, len(keys))
	for i, key := range keys {
		if m.rows[key] == nil {
			results[i].Err = link.ErrNotFound
			continue
		}
		m.seq++
		results[i].Change = m.change(key)
	}
	return results, nil
}

func (m *memory) PurgeAll(context.Context) ([]*feed.Change, error) {
	changes := make([]*feed.Change, feed.Shards)
	for shard := range changes {
		m.seq++
		changes[shard] = &feed.Change{Epoch: 1, Shard: shard, Seq: m.seq, Kind: feed.PurgeAll}
	}
	return changes, m.fails
}

func (m *memory) KeysByTag(_ context.Context, owner *string, tag string, after link.Key, limit int) ([]link.Key, error) {
	var keys []link.Key
	for key, l := range m.rows {
		if key.Code > after.Code && slices.Contains(l.Tags, tag) && (owner == nil || *owner == l.Owner) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b link.Key) int {
		if a.Code < b.Code {
			return -1
		}
		return 1
	})
	return keys[:min(limit, len(keys))], m.fails
}

// codes are those of the published changes since the test said so.
func (f fixture) codes(since int) []string {
	var codes []string
	for _, c := range f.published.changes[since:] {
		codes = append(codes, c.Key.Code)
	}
	return codes
}

// fill makes links a (ann's), b (bob's) and c (ann's, deleted), all tagged x.
func (f fixture) fill(t *testing.T) (published int) {
	t.Helper()
	for code, owner := range map[string]string{"a": "ann", "b": "bob", "c": "ann"} {
		in := aliased(code)
		in.Tags = links.Value([]string{"x"})
		if _, err := f.Create(t.Context(), links.Caller{Owner: owner}, in, links.AckCommit); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Delete(t.Context(), links.Caller{}, link.Key{Code: "c"}, nil, links.AckCommit); err != nil {
		t.Fatal(err)
	}
	return len(f.published.changes)
}

func TestPurgeOfNamedLinks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		caller  links.Caller
		want    []string
		missing []string
	}{
		{"an unconfined key, tombstones too", links.Caller{}, []string{"a", "b", "c"}, []string{"none"}},
		{"a confined key", links.Caller{Owner: "ann"}, []string{"a"}, []string{"b", "c", "none"}},
		{"a key of somebody else", links.Caller{Owner: "eve"}, nil, []string{"a", "b", "c", "none"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture()
			since := f.fill(t)
			keys := []link.Key{{Code: "a"}, {Code: "b"}, {Code: "c"}, {Code: "none"}}
			p, err := f.Purge(t.Context(), tc.caller, keys, links.AckEdges)
			if err != nil || p.Links != len(tc.want) {
				t.Errorf("Purge = %+v, %v, want %d links", p, err, len(tc.want))
			}
			var missing []string
			for _, key := range p.Missing {
				missing = append(missing, key.Code)
			}
			if got := f.codes(since); !slices.Equal(got, tc.want) || !slices.Equal(missing, tc.missing) {
				t.Errorf("purged %v, missing %v, want %v and %v", got, missing, tc.want, tc.missing)
			}
			if len(tc.want) == 0 {
				if len(f.waits.asked) != 0 || p.Receipt.Ack != links.AckCommit {
					t.Errorf("waited for %v, receipt %+v, want nothing claimed", f.waits.asked, p.Receipt)
				}
				return
			}
			if len(f.waits.asked) != 1 || p.Receipt.Ack != links.AckEdges || p.Receipt.Edges != 3 {
				t.Errorf("waited %d times, receipt %+v, want one wait", len(f.waits.asked), p.Receipt)
			}
		})
	}
}

func TestPurgeByTagGoesThroughAllPagesOfTheCallersLinks(t *testing.T) {
	t.Parallel()
	f := newFixture()
	f.fill(t)
	const more = 2*links.MaxPurge + 1
	for i := range more {
		key := link.Key{Code: "m" + strconv.Itoa(i)}
		f.store.rows[key] = &link.Link{Key: key, Owner: "ann", Tags: []string{"x"}}
	}
	for _, tc := range []struct {
		caller links.Caller
		tag    string
		want   int
	}{
		{links.Caller{}, "x", more + 3},
		{links.Caller{Owner: "ann"}, "x", more + 2},
		{links.Caller{Owner: "bob"}, "x", 1},
		{links.Caller{}, "y", 0},
	} {
		since, waited := len(f.published.changes), len(f.waits.asked)
		p, err := f.PurgeTag(t.Context(), tc.caller, tc.tag, links.AckEdges)
		if err != nil || p.Links != tc.want || len(f.codes(since)) != tc.want {
			t.Errorf("%+v: PurgeTag(%s) = %+v, %v, %d changes, want %d links", tc.caller, tc.tag, p, err, len(f.codes(since)), tc.want)
		}
		if got := len(f.waits.asked) - waited; got != min(1, tc.want) {
			t.Errorf("%+v: waited %d times, want %d", tc.caller, got, min(1, tc.want))
		}
	}
}

func TestTagsThatNoLinkHasAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture()
	for _, tag := range []string{"", "a\x00b", "\xff", string(make([]byte, link.MaxTag+1))} {
		_, err := f.PurgeTag(t.Context(), links.Caller{}, tag, links.AckEdges)
		if _, ok := errors.AsType[*link.InvalidError](err); !ok {
			t.Errorf("PurgeTag(%q) = %v, want it refused", tag, err)
		}
	}
}

func TestOnlyAnAdminPurgesAll(t *testing.T) {
	t.Parallel()
	f := newFixture()
	for _, c := range []links.Caller{{}, {Owner: "ann"}} {
		if _, err := f.PurgeAll(t.Context(), c, links.AckEdges); !errors.Is(err, links.ErrAdmin) {
			t.Errorf("%+v: PurgeAll = %v, want %v", c, err, links.ErrAdmin)
		}
	}
	if len(f.published.changes) != 0 {
		t.Fatalf("published %d changes, want none", len(f.published.changes))
	}
	p, err := f.PurgeAll(t.Context(), links.Caller{Admin: true}, links.AckEdges)
	if err != nil || len(f.published.changes) != feed.Shards || len(f.waits.asked) != 1 || len(f.waits.asked[0]) != feed.Shards {
		t.Errorf("PurgeAll = %+v, %v, %d changes, waited for %v", p, err, len(f.published.changes), f.waits.asked)
	}
}

func TestAFailedPurgePublishesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture()
	since := f.fill(t)
	f.store.fails = link.ErrUnavailable
	for name, purge := range map[string]func() (links.Purged, error){
		"named": func() (links.Purged, error) {
			return f.Purge(t.Context(), links.Caller{}, []link.Key{{Code: "a"}}, links.AckEdges)
		},
		"tag": func() (links.Purged, error) { return f.PurgeTag(t.Context(), links.Caller{}, "x", links.AckEdges) },
		"all": func() (links.Purged, error) {
			return f.PurgeAll(t.Context(), links.Caller{Admin: true}, links.AckEdges)
		},
	} {
		if _, err := purge(); !errors.Is(err, link.ErrUnavailable) {
			t.Errorf("%s: %v, want that of the store", name, err)
		}
	}
	if got := f.codes(since); len(got) != 0 || len(f.waits.asked) != 0 {
		t.Errorf("published %v, waited for %v, want nothing", got, f.waits.asked)
	}
}
