package links_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func named(host string) *links.DomainInput { return &links.DomainInput{Host: links.Value(host)} }

// fieldsOf names what an error refuses.
func fieldsOf(err error) (fields []string) {
	if invalid, ok := errors.AsType[*link.InvalidError](err); ok {
		for _, f := range invalid.Fields {
			fields = append(fields, f.Field)
		}
	}
	return fields
}

func TestADomainIsMadeChangedAndRemoved(t *testing.T) {
	t.Parallel()
	f := newFixture()
	in := named("Kö.example.")
	in.HomeURL, in.Status, in.Clicks = links.Value("https://home.example/ä"), links.Value(int64(307)), links.Value("off")
	made, err := f.CreateDomain(t.Context(), in, links.AckEdges)
	want := links.Domain{
		Host: "xn--k-1ga.example", HomeURL: "https://home.example/%C3%A4",
		Defaults: links.Defaults{Status: 307}, Version: links.Version{Epoch: 1, Seq: 1},
	}
	if err != nil || made.Domain != want || made.Receipt.Acked != 2 {
		t.Fatalf("made %+v, %v, want %+v", made, err, want)
	}
	if _, err := f.CreateDomain(t.Context(), in, links.AckEdges); !errors.Is(err, links.ErrDomainTaken) {
		t.Errorf("again: %v, want ErrDomainTaken", err)
	}
	if _, err := f.RegisterDomain(t.Context(), want.Host, links.AckEdges); err != nil {
		t.Error(err)
	}
	if got, err := f.Domain(t.Context(), want.Host); err != nil || got != want {
		t.Errorf("registered at start: %+v, %v, want it as it was made", got, err)
	}
	patch := &links.DomainInput{Status: links.Field[int64]{Set: true}, NotFoundURL: links.Value("https://none.example/")}
	stale := []links.Version{{Epoch: 1, Seq: 9}}
	if _, err := f.PatchDomain(t.Context(), want.Host, patch, stale, links.AckEdges); !errors.Is(err, link.ErrMismatch) {
		t.Errorf("another version: %v, want ErrMismatch", err)
	}
	changed, err := f.PatchDomain(t.Context(), want.Host, patch, []links.Version{made.Domain.Version}, links.AckEdges)
	want.Defaults.Status, want.NotFoundURL, want.Version.Seq = 302, "https://none.example/", 2
	if err != nil || changed.Domain != want {
		t.Errorf("changed %+v, %v, want %+v", changed.Domain, err, want)
	}
	published := len(f.published.changes)
	if same, err := f.PatchDomain(t.Context(), want.Host, patch, nil, links.AckEdges); err != nil || same.Domain != want || len(f.published.changes) != published {
		t.Errorf("changed to what it is: %+v, %v, %d changes, want none", same.Domain, err, len(f.published.changes)-published)
	}
	if _, err := f.DeleteDomain(t.Context(), want.Host, stale, links.AckEdges); !errors.Is(err, link.ErrMismatch) {
		t.Errorf("delete another version: %v, want ErrMismatch", err)
	}
	if _, err := f.DeleteDomain(t.Context(), want.Host, nil, links.AckEdges); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"read":  func() error { _, err := f.Domain(t.Context(), want.Host); return err }(),
		"patch": func() error { _, err := f.PatchDomain(t.Context(), want.Host, patch, nil, links.AckEdges); return err }(),
	} {
		if !errors.Is(err, links.ErrDomain) {
			t.Errorf("%s what is gone: %v, want ErrDomain", what, err)
		}
	}
}

// A row must be within what edges read of a change, 64 KiB, whatever is in it.
func TestTheLongestDomainIsAChangeThatEdgesRead(t *testing.T) {
	t.Parallel()
	f := newFixture()
	url := "https://example.com/?" + strings.Repeat("&", link.MaxTarget-len("https://example.com/?"))
	in := named("new.example")
	in.HomeURL, in.NotFoundURL, in.ExpiredURL = links.Value(url), links.Value(url), links.Value(url)
	if _, err := f.CreateDomain(t.Context(), in, links.AckCommit); err != nil {
		t.Fatal(err)
	}
	c := *f.published.changes[0]
	c.Kind = feed.Create
	if read, err := feed.ParseChange(c.Append(nil)); err != nil || read.Value != c.Value {
		t.Errorf("a change of %d bytes: %v", len(c.Value), err)
	}
}

func TestTheDefaultDomainIsThereWithoutARow(t *testing.T) {
	t.Parallel()
	f := newFixture()
	unset := links.Domain{Defaults: links.Defaults{Status: 302, Clicks: true}, Version: links.Version{Epoch: 1}}
	if got, err := f.Domain(t.Context(), ""); err != nil || got != unset {
		t.Errorf("got %+v, %v, want %+v", got, err, unset)
	}
	nothing := &links.DomainInput{HomeURL: links.Field[string]{Set: true}}
	if got, err := f.PatchDomain(t.Context(), "", nothing, nil, links.AckEdges); err != nil || got.Domain != unset || len(f.published.changes) != 0 {
		t.Errorf("changed to what it is: %+v, %v, %d changes, want none", got.Domain, err, len(f.published.changes))
	}
	patch := &links.DomainInput{HomeURL: links.Value("https://home.example/"), Class: links.Value("strict")}
	if _, err := f.PatchDomain(t.Context(), "", patch, []links.Version{unset.Version}, links.AckEdges); err != nil {
		t.Fatal(err)
	}
	if _, err := f.PatchDomain(t.Context(), "", patch, []links.Version{unset.Version}, links.AckEdges); !errors.Is(err, link.ErrMismatch) {
		t.Errorf("the version before: %v, want ErrMismatch", err)
	}
	if _, err := f.DeleteDomain(t.Context(), "", nil, links.AckEdges); !errors.Is(err, links.ErrDefaultDomain) {
		t.Errorf("delete: %v, want ErrDefaultDomain", err)
	}
	if made, err := f.Create(t.Context(), links.Caller{}, to("https://example.com/"), links.AckCommit); err != nil || made.Link.Class != link.Strict {
		t.Errorf("a link of it: class %v, %v, want strict", made.Link.Class, err)
	}
}

func TestDomainsAreHeldAgainstTheRulesOfTargets(t *testing.T) {
	t.Parallel()
	f := newFixture()
	if _, err := f.PutBlock(t.Context(), &links.BlockInput{Host: links.Value("bad.example")}, links.AckCommit); err != nil {
		t.Fatal(err)
	}
	all := func(url string) *links.DomainInput {
		in := named("new.example")
		in.HomeURL, in.NotFoundURL, in.ExpiredURL = links.Value(url), links.Value(url), links.Value(url)
		return in
	}
	urls := []string{"home_url", "not_found_url", "expired_url"}
	bad := named("go.example:80")
	bad.Status, bad.Query, bad.Suffix, bad.Class, bad.Clicks = links.Value(int64(200)), links.Value("x"), links.Value("x"), links.Value("x"), links.Value("x")
	for _, c := range []struct {
		name string
		in   *links.DomainInput
		want []string
	}{
		{"no host", &links.DomainInput{}, []string{"host"}},
		{"everything wrong", bad, []string{"host", "status", "query", "suffix", "class", "clicks"}},
		{"the host of the default domain", named("wp.example"), []string{"host"}},
		{"another domain of ours", all("https://GO.example./x"), urls},
		{"the default domain", all("https://wp.example/x"), urls},
		{"itself", all("https://new.example/"), urls},
		{"a blocked host", all("https://bad.example/"), urls},
		{"no URL", all("new.example"), urls},
	} {
		if _, err := f.CreateDomain(t.Context(), c.in, links.AckCommit); !slices.Equal(fieldsOf(err), c.want) {
			t.Errorf("%s: %v, want %v refused", c.name, err, c.want)
		}
	}
	if _, err := f.PatchDomain(t.Context(), "go.example", named("x.example"), nil, links.AckCommit); !slices.Equal(fieldsOf(err), []string{"host"}) {
		t.Errorf("another host: %v, want it refused", err)
	}
}

func TestLinksGetWhatTheirDomainHas(t *testing.T) {
	t.Parallel()
	f := newFixture()
	in := named("new.example")
	in.Status, in.Query, in.Suffix = links.Value(int64(308)), links.Value("append"), links.Value("append")
	in.Class, in.Clicks = links.Value("strict"), links.Value("off")
	if _, err := f.CreateDomain(t.Context(), in, links.AckCommit); err != nil {
		t.Fatal(err)
	}
	plain, chosen := aliased("a"), aliased("b")
	plain.Domain, chosen.Domain = links.Value("new.example"), links.Value("new.example")
	chosen.Status, chosen.Query, chosen.Clicks = links.Value(int64(301)), links.Value("off"), links.Value("on")
	want := link.Link{Status: 308, Query: link.QueryAppend, Suffix: link.SuffixAppend, Class: link.Strict}
	options := func(l *link.Link) link.Link {
		return link.Link{Status: l.Status, Query: l.Query, Suffix: l.Suffix, Class: l.Class, Clicks: l.Clicks}
	}
	made, err := f.Create(t.Context(), links.Caller{}, plain, links.AckCommit)
	if err != nil || options(&made.Link).Status != want.Status || options(&made.Link).Query != want.Query ||
		made.Link.Suffix != want.Suffix || made.Link.Class != want.Class || made.Link.Clicks {
		t.Errorf("left out: %+v, %v, want %+v", made.Link, err, want)
	}
	if made, err = f.Create(t.Context(), links.Caller{}, chosen, links.AckCommit); err != nil ||
		made.Link.Status != 301 || made.Link.Query != link.QueryOff || !made.Link.Clicks || made.Link.Suffix != link.SuffixAppend {
		t.Errorf("given: %+v, %v, want what was given", made.Link, err)
	}
	cleared := &links.Input{Status: links.Field[int64]{Set: true}}
	if made, err = f.Patch(t.Context(), links.Caller{}, made.Link.Key, cleared, nil, links.AckCommit); err != nil || made.Link.Status != 308 {
		t.Errorf("cleared: status %d, %v, want the domain's", made.Link.Status, err)
	}
}

func TestNoLinkIsMadeToABlockedHost(t *testing.T) {
	t.Parallel()
	f := newFixture()
	made, err := f.Create(t.Context(), links.Caller{}, aliased("a"), links.AckCommit)
	if err != nil {
		t.Fatal(err)
	}
	for host, kind := range map[string]string{"Bad.Example.": "exact", "worse.example": "suffix", "127.0.0.1": "exact"} {
		if _, err := f.PutBlock(t.Context(), &links.BlockInput{Host: links.Value(host), Kind: links.Value(kind)}, links.AckCommit); err != nil {
			t.Fatal(err)
		}
	}
	for target, refused := range map[string]bool{
		"https://BAD.example:8443/x": true, "https://bad.example./": true, "https://a.bad.example/": false,
		"https://worse.example/": true, "https://a.b.worse.example/": true, "https://notworse.example/": false,
		"http://2130706433/": true, "http://0x7f.1/": true, "mailto:a@bad.example": false,
	} {
		in := &links.Input{Target: links.Value(target), ExpiredURL: links.Value(target)}
		want := []string{"target", "expired_url"}
		if !refused {
			want = nil
		}
		if _, err := f.Create(t.Context(), links.Caller{}, in, links.AckCommit); !slices.Equal(fieldsOf(err), want) {
			t.Errorf("create %s: %v, want %v refused", target, err, want)
		}
		if _, err := f.Patch(t.Context(), links.Caller{}, made.Link.Key, in, nil, links.AckCommit); !slices.Equal(fieldsOf(err), want) {
			t.Errorf("change to %s: %v, want %v refused", target, err, want)
		}
	}
}

func TestABlockIsTheAPIsOrTheFiles(t *testing.T) {
	t.Parallel()
	f := newFixture()
	put := func(host, kind string) (links.WrittenBlock, error) {
		return f.PutBlock(t.Context(), &links.BlockInput{Host: links.Value(host), Kind: links.Value(kind)}, links.AckEdges)
	}
	made, err := put("Bad.example", "exact")
	if err != nil || !made.New || made.Block.Host != "bad.example" || made.Block.Kind != links.BlockExact ||
		made.Block.Source != feed.BlockByAPI || !made.Block.At.Equal(f.store.now) || made.Receipt.Acked != 2 {
		t.Errorf("made %+v, %v", made, err)
	}
	at := made.Block.At
	f.store.now = f.store.now.AddDate(0, 0, 1)
	if made, err = put("bad.example", "suffix"); err != nil || made.New || made.Block.Kind != links.BlockSuffix || !made.Block.At.Equal(at) {
		t.Errorf("again, wider: %+v, %v, want the same, wider", made, err)
	}
	if _, err := f.TakeBlockFile(t.Context(), links.BlockFile{"filed.example": false}); err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]error{"filed.example": links.ErrByFile, "free.example": link.ErrNotFound, "a/b": link.ErrNotFound} {
		if _, err := f.DeleteBlock(t.Context(), host, links.AckEdges); !errors.Is(err, want) {
			t.Errorf("unblock %s: %v, want %v", host, err, want)
		}
	}
	if _, err := put("filed.example", "suffix"); err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]feed.BlockSource{"BAD.example": feed.BlockByAPI, "filed.example": feed.BlockByAPI} {
		if got, err := f.Block(t.Context(), host); err != nil || got.Source != want {
			t.Errorf("block of %s: %+v, %v, want that of %s", host, got, err, want)
		}
	}
	if _, err := f.DeleteBlock(t.Context(), "filed.example", links.AckEdges); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Block(t.Context(), "filed.example"); err != nil || got.Source != feed.BlockByFile || got.Kind != links.BlockExact {
		t.Errorf("block of filed.example: %+v, %v, want the file's", got, err)
	}
	for _, host := range []string{"free.example", "a.bad.example", "a/b", "", "bad.exampl"} {
		if _, err := f.Block(t.Context(), host); !errors.Is(err, link.ErrNotFound) {
			t.Errorf("block of %q: %v, want ErrNotFound", host, err)
		}
	}
	found, next, err := f.Blocks(t.Context(), links.Place{}, 1)
	if err != nil || len(found) != 1 || found[0].Host != "bad.example" || !next.Started {
		t.Errorf("first page: %+v, %+v, %v", found, next, err)
	}
	found, next, err = f.Blocks(t.Context(), next, 1)
	if err != nil || len(found) != 1 || found[0].Host != "filed.example" || found[0].Source != feed.BlockByFile || next.Started {
		t.Errorf("last page: %+v, %+v, %v", found, next, err)
	}
	if _, err := f.DeleteBlock(t.Context(), "BAD.example.", links.AckEdges); err != nil {
		t.Errorf("unblock: %v", err)
	}
	for _, in := range []*links.BlockInput{
		{},
		{Host: links.Value("http://x.example")},
		{Host: links.Value("192.0.2.1"), Kind: links.Value("suffix")},
		{Host: links.Value("x.example"), Kind: links.Value("all"), Note: links.Value("a\nb")},
	} {
		if _, err := f.PutBlock(t.Context(), in, links.AckEdges); len(fieldsOf(err)) == 0 {
			t.Errorf("%+v: %v, want it refused", in, err)
		}
	}
}

// Visitors' requests are told apart by host alone: one with the service's own
// address would take the default domain's links from them.
func TestTheAddressOfTheDefaultDomainIsNoOtherDomain(t *testing.T) {
	t.Parallel()
	f := newFixture()
	for _, public := range []string{"127.0.0.1:8080", "localhost:8080"} {
		service := links.New(links.Deps{Config: f.store, Publisher: f.published, Barrier: f.waits, PublicHost: public})
		host, _, _ := strings.Cut(public, ":")
		if _, err := service.CreateDomain(t.Context(), named(host), links.AckCommit); !slices.Equal(fieldsOf(err), []string{"host"}) {
			t.Errorf("%s at %s: %v, want the host refused", host, public, err)
		}
	}
	if _, err := f.CreateDomain(t.Context(), named("localhost"), links.AckCommit); err != nil {
		t.Errorf("elsewhere: %v, want it registered", err)
	}
}

func TestAPatternOfHostsIsToldTheKindSuffix(t *testing.T) {
	t.Parallel()
	f := newFixture()
	for host, told := range map[string]bool{
		"*.bad.example": true, ".bad.example": true, "*.Böse.example.": true,
		"*": false, "*.": false, "*.*.example": false, "*bad.example": false, ".192.0.2.1": false, "a..b": false,
	} {
		_, err := f.PutBlock(t.Context(), &links.BlockInput{Host: links.Value(host)}, links.AckEdges)
		invalid, ok := errors.AsType[*link.InvalidError](err)
		if !ok || len(invalid.Fields) != 1 || invalid.Fields[0].Field != "host" || strings.Contains(invalid.Fields[0].Reason, "kind suffix") != told {
			t.Errorf("%q: %v, want the host refused, with the kind suffix told: %v", host, err, told)
		}
	}
}
