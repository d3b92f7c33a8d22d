package links_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// ledger answers what was written before as it is told to.
type ledger struct {
	answers map[links.Once]links.Result
	past    links.Past
	fails   error
}

func (l *ledger) Answered(_ context.Context, asked []links.Once) ([]links.Result, error) {
	results := make([]links.Result, len(asked))
	for i, once := range asked {
		results[i] = l.answers[once]
	}
	return results, l.fails
}

func (l *ledger) History(_ context.Context, key link.Key, w links.Window) (links.Past, error) {
	if l.fails != nil || key != l.past.Link.Key {
		return links.Past{}, errors.Join(l.fails, link.ErrNotFound)
	}
	past := links.Past{Link: l.past.Link}
	for _, e := range l.past.Entries {
		if e.Version >= w.From && (w.Below == 0 || e.Version < w.Below) && (w.Owner == nil || e.Owner == *w.Owner) && len(past.Entries) < w.Limit {
			past.Entries = append(past.Entries, e)
		}
	}
	return past, nil
}

// write adds the entry of a write, which is the newest then.
func (l *ledger) write(t *testing.T, m links.Mutation, made link.Link) {
	t.Helper()
	var old *link.Link
	if l.past.Link.Version > 0 {
		before := l.past.Link
		old = &before
	}
	m.Key = made.Key
	e, err := m.Record(old, &made)
	if err != nil {
		t.Fatalf("Record: %v", err)
	}
	l.past.Link = made
	l.past.Entries = append([]links.Entry{e}, l.past.Entries...)
}

func plain(version uint64) link.Link {
	return link.Link{
		Key: link.Key{Code: "x"}, Target: "https://example.com/?a=1&b=<2>", Status: 302, Enabled: true, Clicks: true,
		Epoch: 1, Version: version, UpdatedAt: time.Date(2030, 1, 1, 0, 0, int(version), 0, time.UTC),
	}
}

func TestRecordsSayWhatWasDoneAndChanged(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 2, 3, 4, 5, 6, 7000, time.UTC)
	old := plain(3)
	deleted := old
	deleted.DeletedAt = at
	changed := func(change func(*link.Link)) link.Link {
		l := plain(8)
		change(&l)
		return l
	}
	for _, tt := range []struct {
		name    string
		old     *link.Link
		made    link.Link
		m       links.Mutation
		action  links.Action
		changes string
	}{
		{"a new link", nil, plain(8), links.Mutation{}, links.ActionCreate, `{"target":{"to":"https://example.com/?a=1&b=<2>"}}`},
		{
			"a new link of an owner", nil,
			changed(func(l *link.Link) { l.Owner, l.Target, l.Enabled = "ann", "https://e.example/", false }),
			links.Mutation{},
			links.ActionCreate, `{"enabled":{"to":false},"owner":{"to":"ann"},"target":{"to":"https://e.example/"}}`,
		},
		{"nothing", &old, plain(8), links.Mutation{}, links.ActionChange, `{}`},
		{
			"tags and times", &old, changed(func(l *link.Link) { l.Tags, l.StartsAt = []string{"b", "a"}, at }),
			links.Mutation{},
			links.ActionChange,
			`{"starts_at":{"from":null,"to":"2031-02-03T04:05:06.000007Z"},"tags":{"from":[],"to":["b","a"]}}`,
		},
		{
			"policies", &old, changed(func(l *link.Link) {
				l.Query, l.Suffix, l.Class, l.Clicks, l.MaxClicks = link.QueryTarget, link.SuffixAppend, link.Strict, false, 9
			}),
			links.Mutation{},
			links.ActionChange, `{"class":{"from":"available","to":"strict"},"clicks":{"from":"on","to":"off"},` +
				`"max_clicks":{"from":null,"to":9},"query":{"from":"off","to":"target"},"suffix":{"from":"off","to":"append"}}`,
		},
		{"a deletion", &old, changed(func(l *link.Link) { l.DeletedAt = at }), links.Mutation{}, links.ActionDelete, `{}`},
		{
			"another link on a tombstone", &deleted, changed(func(l *link.Link) { l.Title = "new" }),
			links.Mutation{},
			links.ActionRestore, `{"title":{"from":"","to":"new"}}`,
		},
		{
			"a rollback", &old, changed(func(l *link.Link) { l.Status = 301 }),
			links.Mutation{Rollback: true},
			links.ActionRollback, `{"status":{"from":302,"to":301}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.m.By = "key1"
			e, err := tt.m.Record(tt.old, &tt.made)
			if err != nil {
				t.Fatalf("Record: %v", err)
			}
			changes, err := e.Changes.Encode()
			if err != nil || string(changes) != tt.changes {
				t.Errorf("changes = %s, %v, want %s", changes, err, tt.changes)
			}
			var previous uint64
			if tt.old != nil {
				previous = 3
			}
			if e.Action != tt.action || e.Version != 8 || e.Previous != previous || e.By != "key1" || e.Owner != tt.made.Owner || e.At != tt.made.UpdatedAt {
				t.Errorf("entry = %+v, want %s of version 8 by key1", e, tt.action)
			}
		})
	}
}

// anyLink draws all of a link that can be changed.
func anyLink(r *rand.Rand, version uint64) link.Link {
	l := plain(version)
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	l.Target = "https://example.com/" + pick("a", "b&c", "%C3%A9")
	l.Status = []int{301, 302, 307, 308}[r.IntN(4)]
	l.Enabled, l.Clicks = r.IntN(2) == 0, r.IntN(2) == 0
	l.Owner, l.Title = pick("", "ann"), pick("", "<Tï>")
	l.Tags = [][]string{nil, {"a"}, {"b", "ä"}}[r.IntN(3)]
	l.Query, l.Suffix, l.Class = link.Query(r.IntN(4)), link.Suffix(r.IntN(2)), link.Class(r.IntN(2))
	if r.IntN(2) == 0 {
		l.StartsAt = time.UnixMicro(1_900_000_000_000_001 + int64(r.IntN(3))).UTC()
	}
	if r.IntN(2) == 0 {
		l.ExpiresAt = time.UnixMicro(2_000_000_000_000_001 + int64(r.IntN(3))).UTC()
	}
	l.ExpiredURL, l.MaxClicks = pick("", "https://example.com/over"), int64(r.IntN(3))
	return l
}

// Each version comes back as it was, in every field, also from before the link was deleted and made anew.
func TestRollbackBringsEveryVersionBack(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	f := newFixture()
	var states []link.Link
	for version := uint64(3); version < 200; version += 1 + uint64(random.IntN(3)) {
		l := anyLink(random, version)
		if len(states)%20 == 19 {
			l = states[len(states)-1]
			l.Version, l.DeletedAt = version, f.store.now
		}
		states = append(states, l)
		f.ledger.write(t, links.Mutation{}, l)
	}
	newest := states[len(states)-1]
	for _, want := range states {
		live := newest
		live.DeletedAt = time.Time{}
		f.store.rows[live.Key] = &live
		written, err := f.Rollback(t.Context(), links.Caller{}, live.Key, want.Version, nil, links.AckEdges)
		if !want.DeletedAt.IsZero() {
			wantVersionFault(t, err)
			continue
		}
		if err != nil {
			t.Fatalf("Rollback to %d: %v", want.Version, err)
		}
		got := written.Link
		got.Version, got.UpdatedAt, got.Epoch = want.Version, want.UpdatedAt, want.Epoch
		if len(want.Tags) == 0 {
			got.Tags = want.Tags
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("version %d came back as\n%+v, want\n%+v", want.Version, got, want)
		}
	}
}

func wantVersionFault(t *testing.T, err error) {
	t.Helper()
	invalid, ok := errors.AsType[*link.InvalidError](err)
	if !ok || len(invalid.Fields) != 1 || invalid.Fields[0].Field != "version" {
		t.Errorf("got %v, want a fault of version", err)
	}
}

func TestRollbackRefusesWhatIsNotInTheHistory(t *testing.T) {
	t.Parallel()
	f := newFixture()
	for _, version := range []uint64{3, 5, 9} {
		f.ledger.write(t, links.Mutation{}, plain(version))
	}
	row := f.ledger.past.Link
	f.store.rows[row.Key] = &row
	for _, version := range []uint64{1, 4, 8, 10} {
		_, err := f.Rollback(t.Context(), links.Caller{}, row.Key, version, nil, links.AckEdges)
		wantVersionFault(t, err)
	}
	// What was written past the history cannot be taken back.
	f.ledger.past.Entries[1].Previous = 4
	if _, err := f.Rollback(t.Context(), links.Caller{}, row.Key, 5, nil, links.AckEdges); err != nil {
		t.Errorf("Rollback to 5, after which there is no gap: %v", err)
	}
	_, err := f.Rollback(t.Context(), links.Caller{}, row.Key, 3, nil, links.AckEdges)
	wantVersionFault(t, err)
	f.ledger.past.Link.Version = 11
	_, err = f.Rollback(t.Context(), links.Caller{}, row.Key, 9, nil, links.AckEdges)
	wantVersionFault(t, err)
	f.ledger.past.Link.DeletedAt = time.Unix(1, 0)
	if _, err := f.Rollback(t.Context(), links.Caller{}, row.Key, 9, nil, links.AckEdges); !errors.Is(err, link.ErrNotFound) {
		t.Errorf("Rollback of a deleted link: %v, want ErrNotFound", err)
	}
}

func TestRollbackIsHeldAgainstTheRulesOfToday(t *testing.T) {
	t.Parallel()
	f := newFixture()
	old := plain(1)
	old.Target = "gopher://example.com/" // allowed once
	f.ledger.write(t, links.Mutation{}, old)
	f.ledger.write(t, links.Mutation{}, plain(2))
	row := f.ledger.past.Link
	f.store.rows[row.Key] = &row
	_, err := f.Rollback(t.Context(), links.Caller{}, row.Key, 1, nil, links.AckEdges)
	invalid, ok := errors.AsType[*link.InvalidError](err)
	if !ok || len(invalid.Fields) != 1 || invalid.Fields[0].Field != "target" {
		t.Errorf("Rollback to a target that is not allowed any more: %v, want a fault of target", err)
	}
	stale := []links.Version{{Epoch: 1, Seq: 1}}
	if _, err := f.Rollback(t.Context(), links.Caller{}, row.Key, 2, stale, links.AckEdges); !errors.Is(err, link.ErrMismatch) {
		t.Errorf("Rollback of another version than If-Match: %v, want ErrMismatch", err)
	}
}

// The link was ann's, then bob's, then ann's again.
func TestConfinedCallersSeeTheirOwnersTimeOnly(t *testing.T) {
	t.Parallel()
	f := newFixture()
	for i, owner := range []string{"ann", "ann", "bob", "bob", "ann", "ann"} {
		l := plain(uint64(i) + 1)
		l.Owner, l.Title = owner, owner+"'s "+string(rune('a'+i))
		f.ledger.write(t, links.Mutation{}, l)
	}
	row := f.ledger.past.Link
	f.store.rows[row.Key] = &row
	ann, bob := links.Caller{Owner: "ann"}, links.Caller{Owner: "bob"}
	entries, next, err := f.History(t.Context(), ann, row.Key, 0, 100)
	if err != nil || next != 0 {
		t.Fatalf("History: next %d, %v", next, err)
	}
	got := make(map[uint64]string)
	for _, e := range entries {
		b, err := json.Marshal(e.Changes["title"])
		if err != nil {
			t.Fatal(err)
		}
		got[e.Version] = string(b)
	}
	want := map[uint64]string{
		6: `{"from":"ann's e","to":"ann's f"}`, 5: `{"to":"ann's e"}`, 2: `{"from":"ann's a","to":"ann's b"}`, 1: `{"to":"ann's a"}`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("ann sees %v, want %v", got, want)
	}
	if _, _, err := f.History(t.Context(), bob, row.Key, 0, 100); !errors.Is(err, link.ErrNotFound) {
		t.Errorf("bob, whose link it was: %v, want ErrNotFound", err)
	}
	for version, allowed := range map[uint64]bool{1: true, 2: true, 3: false, 4: false, 5: true} {
		written, err := f.Rollback(t.Context(), ann, row.Key, version, nil, links.AckEdges)
		if !allowed {
			wantVersionFault(t, err)
		} else if err != nil || written.Link.Owner != "ann" {
			t.Errorf("ann's Rollback to %d: %+v, %v, want it to be ann's", version, written.Link, err)
		}
		f.store.rows[row.Key] = &row
	}
	all, _, err := f.History(t.Context(), links.Caller{}, row.Key, 0, 100)
	if err != nil || len(all) != 6 || string(all[1].Changes["title"].From) != `"bob's d"` {
		t.Errorf("an unconfined caller sees %+v, %v, want all six entries", all, err)
	}
}

func TestHistoryIsPaged(t *testing.T) {
	t.Parallel()
	f := newFixture()
	for version := range uint64(25) {
		f.ledger.write(t, links.Mutation{}, plain(version+1))
	}
	var got []uint64
	for below := uint64(0); ; {
		entries, next, err := f.History(t.Context(), links.Caller{}, link.Key{Code: "x"}, below, 10)
		if err != nil {
			t.Fatalf("History: %v", err)
		}
		for _, e := range entries {
			got = append(got, e.Version)
		}
		if below = next; next == 0 {
			break
		}
	}
	for i, version := range got {
		if version != uint64(25-i) {
			t.Fatalf("pages have %v, want 25 to 1", got)
		}
	}
	if len(got) != 25 {
		t.Errorf("pages have %d entries, want 25", len(got))
	}
	for _, limit := range []int{0, 101} {
		if _, _, err := f.History(t.Context(), links.Caller{}, link.Key{Code: "x"}, 0, limit); !errors.As(err, new(*link.InvalidError)) {
			t.Errorf("limit %d: %v, want it refused", limit, err)
		}
	}
}
