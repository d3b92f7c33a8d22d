package links_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// memory is a store of one writer, with a clock that stands still.
type memory struct {
	rows   map[link.Key]*link.Link
	now    time.Time
	fails  error
	seq    uint64
	takes  time.Duration // of a write
	config map[string]string
	found  *link.Link // by every mutation that would reuse one; nil: there is none

	batches []int                 // how many rows were written at once
	begun   func(context.Context) // called when a write has begun; may be nil
}

func (m *memory) Write(ctx context.Context, ms []links.Mutation) ([]links.Result, error) {
	if m.begun != nil {
		m.begun(ctx)
	}
	if m.fails != nil {
		return nil, m.fails
	}
	if m.takes > 0 {
		<-time.After(m.takes)
	}
	results := make([]links.Result, len(ms))
	for i, mutation := range ms {
		results[i] = m.write(ctx, mutation)
	}
	return results, nil
}

func (m *memory) write(ctx context.Context, mutation links.Mutation) links.Result {
	key := mutation.Key
	if mutation.Reuse && m.found != nil {
		return links.Result{Link: *m.found, Reused: true}
	}
	if mutation.Generate != nil {
		var err error
		if key.Code, err = mutation.Generate(ctx); err != nil {
			return links.Result{Err: err}
		}
	}
	l, err := mutation.Merge(m.rows[key], m.now)
	switch {
	case errors.Is(err, link.ErrTaken) && mutation.Generate != nil:
		return m.write(ctx, mutation)
	case err != nil:
		return links.Result{Err: err}
	}
	m.seq++
	l.Key, l.Epoch, l.Version = key, 1, m.seq
	m.rows[key] = l
	return links.Result{Link: *l, Change: m.change(key)}
}

// change is one at the last position, which all shards share here.
func (m *memory) change(key link.Key) *feed.Change {
	return &feed.Change{Epoch: 1, Shard: feed.Shard(key.Hash()), Seq: m.seq, Key: key}
}

func (m *memory) Link(_ context.Context, key link.Key) (link.Link, error) {
	l := m.rows[key]
	if l == nil || !l.DeletedAt.IsZero() {
		return link.Link{}, link.ErrNotFound
	}
	return *l, nil
}

func (m *memory) List(_ context.Context, f links.Filter) (links.Page, error) {
	return links.Page{Next: *f.Owner}, nil
}

func (m *memory) Config(context.Context) (*feed.Config, error) {
	rows := maps.Clone(m.config)
	rows[feed.DomainRow("go.example")], rows["other"] = `{"host":"go.example"}`, "{}"
	return feed.NewConfig(1, m.seq, rows), nil
}

func (m *memory) ConfigRows(_ context.Context, prefix, after string, limit int) (rows []links.ConfigRow, err error) {
	for _, name := range slices.Sorted(maps.Keys(m.config)) {
		if strings.HasPrefix(name, prefix) && name > after && len(rows) < limit {
			rows = append(rows, m.row(name))
		}
	}
	return rows, m.fails
}

func (m *memory) row(name string) links.ConfigRow {
	return links.ConfigRow{Name: name, Value: m.config[name], Epoch: 1, Version: m.seq}
}

// count is how many rows there are of the row's kind.
func (m *memory) count(row string) (n int) {
	kind, _, _ := strings.Cut(row, "/")
	for name := range m.config {
		if strings.HasPrefix(name, kind+"/") {
			n++
		}
	}
	return n
}

func (m *memory) WriteConfig(_ context.Context, ms []links.ConfigMutation) ([]links.ConfigResult, error) {
	m.batches = append(m.batches, len(ms))
	results := make([]links.ConfigResult, len(ms))
	for i, mutation := range ms {
		var old *links.ConfigRow
		if _, ok := m.config[mutation.Row]; ok {
			r := m.row(mutation.Row)
			old = &r
		}
		value, err := mutation.Merge(old, m.now)
		if err == nil && old == nil && mutation.Most > 0 && m.count(mutation.Row) >= mutation.Most {
			err = links.ErrFull
		}
		if results[i] = (links.ConfigResult{Row: m.row(mutation.Row), Err: err}); err != nil || value == m.config[mutation.Row] {
			continue
		}
		m.seq++
		if m.config[mutation.Row] = value; value == "" {
			delete(m.config, mutation.Row)
		}
		results[i].Row = m.row(mutation.Row)
		results[i].Change = &feed.Change{Epoch: 1, Shard: feed.ConfigShard, Seq: m.seq, Key: link.Key{Code: mutation.Row}, Value: value}
	}
	return results, m.fails
}

// counting makes the codes 1, 2, 3 and so on.
type counting struct{ n int }

func (c *counting) Next(context.Context, string) (string, error) {
	c.n++
	return strconv.Itoa(c.n), nil
}

type recorder struct{ changes []*feed.Change }

func (r *recorder) Publish(changes []*feed.Change) { r.changes = append(r.changes, changes...) }

type fixture struct {
	*links.Service
	store     *memory
	published *recorder
	waits     *waits
	ledger    *ledger
}

func newFixture() fixture {
	f := fixture{
		store:     &memory{rows: make(map[link.Key]*link.Link), config: make(map[string]string), now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)},
		published: &recorder{}, ledger: &ledger{},
	}
	f.waits = &waits{published: f.published, receipt: links.Receipt{Ack: links.AckEdges, Edges: 3, Acked: 2}}
	f.Service = links.New(links.Deps{
		Store: f.store, Purges: f.store, Config: f.store, Records: f.ledger, Codes: &counting{}, Publisher: f.published, Barrier: f.waits,
		PublicHost: "wp.example", Schemes: []string{"mailto"},
	})
	return f
}

func to(target string) *links.Input { return &links.Input{Target: links.Value(target)} }

func aliased(alias string) *links.Input {
	in := to("https://example.com/")
	in.Alias = links.Value(alias)
	return in
}

func TestChangesArePublishedOnceCommitted(t *testing.T) {
	t.Parallel()
	f := newFixture()
	if _, err := f.Create(t.Context(), links.Caller{}, aliased("a"), links.AckEdges); err != nil {
		t.Fatal(err)
	}
	if len(f.published.changes) != 1 || f.published.changes[0].Key.Code != "a" {
		t.Fatalf("published %v, want the change of a", f.published.changes)
	}
	f.store.fails = link.ErrUnavailable
	if _, err := f.Create(t.Context(), links.Caller{}, aliased("b"), links.AckEdges); !errors.Is(err, link.ErrUnavailable) {
		t.Errorf("Create = %v, want that of the store", err)
	}
	if _, err := f.Create(t.Context(), links.Caller{}, to("nonsense"), links.AckEdges); err == nil {
		t.Error("a bad target was accepted")
	}
	if len(f.published.changes) != 1 {
		t.Errorf("published %d changes, want none of failed writes", len(f.published.changes))
	}
}

func TestAWriteOutlivesItsCallerAndIsPublished(t *testing.T) {
	t.Parallel()
	f := newFixture()
	ctx, leave := context.WithCancel(t.Context())
	f.store.begun = func(ctx context.Context) {
		leave()
		if _, bounded := ctx.Deadline(); ctx.Err() != nil || !bounded {
			t.Errorf("a write whose caller has left: %v, bounded %v, want it to go on for a while", ctx.Err(), bounded)
		}
	}
	if _, err := f.Create(ctx, links.Caller{}, aliased("a"), links.AckEdges); err != nil || len(f.published.changes) != 1 {
		t.Errorf("Create = %v, published %d changes, want 1", err, len(f.published.changes))
	}
	f.store.begun = func(context.Context) { t.Error("a write was begun for a caller that had left before") }
	if _, err := f.Create(ctx, links.Caller{}, aliased("b"), links.AckEdges); !errors.Is(err, context.Canceled) {
		t.Errorf("Create = %v, want the context's error", err)
	}
}

func TestBulkKeepsOrderAndPublishesWhatSucceeded(t *testing.T) {
	t.Parallel()
	f := newFixture()
	outcomes, _, err := f.Bulk(t.Context(), links.Caller{}, []*links.Input{
		aliased("a"), to("nonsense"), aliased("a"), to("https://example.com/"), aliased("b"),
	}, links.AckEdges)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range outcomes {
		switch {
		case errors.Is(o.Err, link.ErrTaken):
			got = append(got, "taken")
		case o.Err != nil:
			got = append(got, "invalid")
		default:
			got = append(got, o.Link.Key.Code)
		}
	}
	if want := []string{"a", "invalid", "taken", "1", "b"}; !slices.Equal(got, want) {
		t.Errorf("outcomes = %v, want %v", got, want)
	}
	if len(f.published.changes) != 3 {
		t.Errorf("published %d changes, want 3", len(f.published.changes))
	}
}

func TestGeneratedCodesAreNeverReused(t *testing.T) {
	t.Parallel()
	f := newFixture()
	for _, alias := range []string{"1", "2"} {
		if _, err := f.Create(t.Context(), links.Caller{Admin: true}, aliased(alias), links.AckEdges); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Delete(t.Context(), links.Caller{Admin: true}, link.Key{Code: "2"}, nil, links.AckEdges); err != nil {
		t.Fatal(err)
	}
	w, err := f.Create(t.Context(), links.Caller{Admin: true}, to("https://example.com/"), links.AckEdges)
	if err != nil || w.Link.Key.Code != "3" {
		t.Errorf("code = %q, %v, want 3: 1 is taken, 2 was", w.Link.Key.Code, err)
	}
	if got := f.store.rows[link.Key{Code: "1"}].Target; got != "https://example.com/" {
		t.Errorf("the alias in the generator's way leads to %s", got)
	}
}

func TestWhoMayTakeADeletedAlias(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		caller links.Caller
		owner  string
		want   error
	}{
		{"its owner", links.Caller{Owner: "ann"}, "ann", nil},
		{"another owner", links.Caller{Owner: "bob"}, "bob", link.ErrTaken},
		{"an unconfined key for its owner", links.Caller{}, "ann", nil},
		{"an unconfined key for nobody", links.Caller{}, "", link.ErrTaken},
		{"an admin for another", links.Caller{Admin: true}, "bob", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture()
			if _, err := f.Create(t.Context(), links.Caller{Owner: "ann"}, aliased("x"), links.AckEdges); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Delete(t.Context(), links.Caller{Owner: "ann"}, link.Key{Code: "x"}, nil, links.AckEdges); err != nil {
				t.Fatal(err)
			}
			in := aliased("x")
			in.Owner = links.Value(c.owner)
			if _, err := f.Create(t.Context(), c.caller, in, links.AckEdges); !errors.Is(err, c.want) {
				t.Errorf("Create = %v, want %v", err, c.want)
			}
		})
	}
}

func TestConditionsOfChanges(t *testing.T) {
	t.Parallel()
	f := newFixture()
	w, err := f.Create(t.Context(), links.Caller{}, aliased("x"), links.AckEdges)
	if err != nil {
		t.Fatal(err)
	}
	key, now := link.Key{Code: "x"}, links.Version{Epoch: 1, Seq: w.Link.Version}
	for _, c := range []struct {
		name  string
		match []links.Version
		want  error
	}{
		{"no version", []links.Version{}, link.ErrMismatch},
		{"same position of another epoch", []links.Version{{Epoch: 2, Seq: now.Seq}}, link.ErrMismatch},
		{"one of several", []links.Version{{Epoch: 1, Seq: 99}, now}, nil},
		{"the version before", []links.Version{now}, link.ErrMismatch},
		{"none asked for", nil, nil},
	} {
		in := &links.Input{Title: links.Value(c.name)}
		if _, err := f.Patch(t.Context(), links.Caller{}, key, in, c.match, links.AckEdges); !errors.Is(err, c.want) {
			t.Errorf("%s: Patch = %v, want %v", c.name, err, c.want)
		}
	}
}

func TestPatchKeepsFieldsThatAnotherOneChanged(t *testing.T) {
	t.Parallel()
	f := newFixture()
	if _, err := f.Create(t.Context(), links.Caller{}, aliased("x"), links.AckEdges); err != nil {
		t.Fatal(err)
	}
	key := link.Key{Code: "x"}
	for _, in := range []*links.Input{
		{Title: links.Value("t")}, {Status: links.Value(int64(308))}, {Tags: links.Value([]string{"a"})}, {Enabled: links.Value(false)},
	} {
		if _, err := f.Patch(t.Context(), links.Caller{}, key, in, nil, links.AckEdges); err != nil {
			t.Fatal(err)
		}
	}
	l, err := f.Get(t.Context(), links.Caller{}, key)
	if err != nil || l.Title != "t" || l.Status != 308 || !slices.Equal(l.Tags, []string{"a"}) || l.Enabled {
		t.Errorf("link = %+v, %v, want all four changes", l, err)
	}
}

func TestSchemesThatAreAllowed(t *testing.T) {
	t.Parallel()
	f := newFixture()
	if _, err := f.Create(t.Context(), links.Caller{}, to("mailto:ann@example.com"), links.AckEdges); err != nil {
		t.Errorf("an allowed scheme: %v", err)
	}
	for _, target := range []string{"ftp://example.com/", "https://wp.example/x", "https://GO.example/x"} {
		if _, err := f.Create(t.Context(), links.Caller{}, to(target), links.AckEdges); err == nil {
			t.Errorf("%s was accepted", target)
		}
	}
}

func TestRefusedSchemeNamesThoseThatAreAllowed(t *testing.T) {
	t.Parallel()
	f := newFixture()
	for _, c := range []struct{ target, want string }{
		{"ftp://example.com/", "has a scheme that is not allowed: it must be http, https or mailto"},
		{"localhost:8080/x", "has a scheme that is not allowed: it must be http, https or mailto"},
		// At fault for something else.
		{"example.com", "must be an absolute URL"},
		{"ftp://example.com/\n", "must not have control characters"},
		{"https:/x", "has no host"},
		{"mailto:", "has nothing after its scheme"},
	} {
		in := &links.Input{Target: links.Value(c.target), ExpiredURL: links.Value(c.target)}
		_, err := f.Create(t.Context(), links.Caller{}, in, links.AckEdges)
		var invalid *link.InvalidError
		if !errors.As(err, &invalid) || len(invalid.Fields) != 2 {
			t.Errorf("%q: %v, want two faults", c.target, err)
			continue
		}
		for _, fault := range invalid.Fields {
			if fault.Reason != c.want {
				t.Errorf("%q: %s %s, want %s", c.target, fault.Field, fault.Reason, c.want)
			}
		}
	}
}

func TestUnknownDomainIsToldFromUnknownCode(t *testing.T) {
	t.Parallel()
	f := newFixture()
	for domain, want := range map[string]bool{"": false, "go.example": false, "other.example": true} {
		key := link.Key{Domain: domain, Code: "x"}
		_, get := f.Get(t.Context(), links.Caller{}, key)
		_, patch := f.Patch(t.Context(), links.Caller{}, key, &links.Input{Title: links.Value("t")}, nil, links.AckEdges)
		_, remove := f.Delete(t.Context(), links.Caller{}, key, nil, links.AckEdges)
		for call, err := range map[string]error{"Get": get, "Patch": patch, "Delete": remove} {
			if !errors.Is(err, link.ErrNotFound) || errors.Is(err, links.ErrDomain) != want {
				t.Errorf("%s on %q = %v, want ErrNotFound, of its domain: %v", call, domain, err, want)
			}
		}
		_, err := f.List(t.Context(), links.Caller{Owner: "ann"}, links.Filter{Domain: &domain, Limit: 10})
		var invalid *link.InvalidError
		if errors.As(err, &invalid) != want || err != nil && !want {
			t.Errorf("List of %q = %v, want it refused: %v", domain, err, want)
		}
	}
}

func TestConfinedListIsOfItsOwner(t *testing.T) {
	t.Parallel()
	f := newFixture()
	page, err := f.List(t.Context(), links.Caller{Owner: "ann"}, links.Filter{Limit: 10})
	if err != nil || page.Next != "ann" {
		t.Errorf("the store was asked for links of %q, %v, want ann's", page.Next, err)
	}
}

func TestParseKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		domain, code string
		want         link.Key
		err          error
	}{
		{"", "a", link.Key{Code: "a"}, nil},
		{"GO.Example.", "e\u0301", link.Key{Domain: "go.example", Code: "\u00e9"}, nil},
		{"", "", link.Key{}, link.ErrNotFound},
		{"", "a/b", link.Key{}, link.ErrNotFound},
		{"", "\xff", link.Key{}, link.ErrNotFound},
		{"a\x00b", "a", link.Key{}, links.ErrDomain},
		{"go.example:80", "a", link.Key{}, links.ErrDomain},
	} {
		got, err := links.ParseKey(c.domain, c.code)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("ParseKey(%q, %q) = %v, %v, want %v, %v", c.domain, c.code, got, err, c.want, c.err)
		}
	}
}
