package links_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

func TestABlockFileIsReadLineByLine(t *testing.T) {
	t.Parallel()
	got, err := links.ReadBlockFile(strings.NewReader(
		"\ufeff# comment\n\nBad.Example.  # why\r\n*.worse.example\n.worst.example\nbad.example\nMünchen.example\n" +
			"twice.example\n.twice.example\n2001:DB8::1\n3221225985\n"))
	want := links.BlockFile{
		"bad.example": false, "worse.example": true, "worst.example": true, "xn--mnchen-3ya.example": false,
		"twice.example": true, "[2001:db8::1]": false, "192.0.2.1": false,
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if got, err := links.ReadBlockFile(strings.NewReader("")); err != nil || len(got) != 0 {
		t.Errorf("empty: got %v, %v, want no hosts", got, err)
	}
}

func TestABlockFilesFaultNamesItsLine(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range links.MaxBlocks + 1 {
		fmt.Fprintf(&many, "h%d.example\n", i)
	}
	for content, want := range map[string]string{
		"a.example\nhttp://b.example/\n": "line 2:",
		"a.example\n\n.192.0.2.1\n":      "line 3:",
		"*\n":                            "line 1:",
		"a.*.example\n":                  "line 1:",
		"a example\n":                    "line 1:",
		"a.example\n" + strings.Repeat("x", 5000): "line 2:",
		"a.example\n\x00\n":                       "line 2:",
		"a.example\n\xff.example\n":               "line 2:",
		many.String():                             fmt.Sprintf("line %d:", links.MaxBlocks+1),
		strings.Repeat("#\n", 3<<20):              "is larger than",
	} {
		if got, err := links.ReadBlockFile(strings.NewReader(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: got %v, %v, want %q", content, got, err, want)
		}
	}
}

func FuzzReadBlockFile(f *testing.F) {
	f.Add("a.example\n*.b.example # x\n\n[::1]\n")
	f.Fuzz(func(t *testing.T, content string) {
		read, err := links.ReadBlockFile(strings.NewReader(content))
		if err != nil {
			return
		}
		for host, suffix := range read {
			if again, err := link.ParseHost(host); err != nil || again != host || suffix && link.IsAddress(host) {
				t.Errorf("%q: has %q, %v: not a host as they are compared", content, host, suffix)
			}
		}
	})
}

func TestABlockFileIsTakenOverInBatchesAndLeavesTheAPIsBlocks(t *testing.T) {
	t.Parallel()
	f := newFixture()
	if _, err := f.PutBlock(t.Context(), &links.BlockInput{Host: links.Value("both.example")}, links.AckCommit); err != nil {
		t.Fatal(err)
	}
	byAPI := maps.Clone(f.store.config)
	f.store.batches = nil
	file := links.BlockFile{"both.example": true}
	for i := range 2 * links.MaxConfigWrite {
		file[fmt.Sprintf("h%d.example", i)] = false
	}
	take := func(file links.BlockFile, want int) {
		t.Helper()
		f.store.batches = nil
		if got, err := f.TakeBlockFile(t.Context(), file); err != nil || got != want {
			t.Errorf("took over %d, %v, want %d", got, err, want)
		}
		for _, n := range f.store.batches {
			if n > links.MaxConfigWrite {
				t.Errorf("a write of %d rows, want at most %d", n, links.MaxConfigWrite)
			}
		}
	}
	blocked := func(host string, want bool) {
		t.Helper()
		cfg, err := f.store.Config(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.Blocks().Blocked(host); got != want {
			t.Errorf("%s blocked: got %v, want %v", host, got, want)
		}
	}
	take(file, len(file))
	take(file, 0)
	if len(f.store.batches) != 0 {
		t.Errorf("nothing has changed, and %v rows were written", f.store.batches)
	}
	blocked("a.both.example", true)
	blocked("h7.example", true)
	file["h7.example"] = true
	take(file, 1)
	blocked("a.h7.example", true)
	take(links.BlockFile{}, len(file))
	if !maps.Equal(f.store.config, byAPI) {
		t.Errorf("left %v, want what the API has blocked, %v", f.store.config, byAPI)
	}
	f.store.fails = link.ErrUnavailable
	if _, err := f.TakeBlockFile(t.Context(), file); !errors.Is(err, link.ErrUnavailable) {
		t.Errorf("without a store: %v, want ErrUnavailable", err)
	}
}

// Some of the first batch find no room. What stands in the last one needs none.
func TestWhatFindsNoRoomKeepsNothingElseFromBeingDone(t *testing.T) {
	t.Parallel()
	f := newFixture()
	before := links.BlockFile{"z.example": false}
	for i := range links.MaxConfigWrite + 1 {
		before[fmt.Sprintf("old%d.example", i)] = false
	}
	if _, err := f.TakeBlockFile(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	const room = 3 // once the old hosts are gone
	for i := range links.MaxBlocks - 1 - room {
		f.store.config[fmt.Sprintf("block/api/h%d.example", i)] = fmt.Sprintf(`{"host":"h%d.example"}`, i)
	}
	after := links.BlockFile{"z.example": true}
	for i := range 2 * links.MaxConfigWrite {
		after[fmt.Sprintf("new%04d.example", i)] = false
	}
	f.store.batches = nil
	changed, err := f.TakeBlockFile(t.Context(), after)
	if want := len(before) - 1 + room + 1; !errors.Is(err, links.ErrFull) || changed != want {
		t.Errorf("took over %d, %v, want %d and ErrFull", changed, err, want)
	}
	blocks := func() links.BlockFile {
		held := make(links.BlockFile)
		found, _, err := f.Blocks(t.Context(), links.Place{Started: true, Name: "file/"}, 2*links.MaxBlocks)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range found {
			held[b.Host] = b.Kind == links.BlockSuffix
		}
		return held
	}
	want := links.BlockFile{"z.example": true, "new0000.example": false, "new0001.example": false, "new0002.example": false}
	if got := blocks(); !maps.Equal(got, want) {
		t.Errorf("the file blocks %v, want %v", got, want)
	}
	for i := range 10 {
		delete(f.store.config, fmt.Sprintf("block/api/h%d.example", i))
	}
	if changed, err := f.TakeBlockFile(t.Context(), after); !errors.Is(err, links.ErrFull) || changed != 10 {
		t.Errorf("once there is room for ten more: took over %d, %v, want these and ErrFull", changed, err)
	}
}
