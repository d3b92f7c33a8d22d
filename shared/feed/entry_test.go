package feed

import (
	"errors"
	"reflect"
	"testing"

	"waypost/shared/link"
)

func liveEntry() *Entry {
	return &Entry{
		Epoch: 3, AsOf: 1 << 40, Version: 17, Key: link.Key{Domain: "go.example", Code: "köln"},
		Body: Body{
			State: Enabled, LinkID: 42, Status: 307, Query: link.QueryTarget, Suffix: link.SuffixAppend,
			Class: link.Strict, Clicks: true, StartsAt: 1, ExpiresAt: 1 << 50, CreatedAt: -5,
			Target: "https://example.com/?a=b#c", ExpiredURL: "https://example.com/over",
		},
	}
}

func TestEntryBytesRoundTrip(t *testing.T) {
	t.Parallel()
	disabled := liveEntry()
	disabled.State, disabled.Clicks, disabled.ExpiredURL = Disabled, false, ""
	limited, taken := liveEntry(), liveEntry()
	limited.Limited, limited.Target = true, ""
	taken.Limited = true
	for name, want := range map[string]*Entry{
		"live":      liveEntry(),
		"disabled":  disabled,
		"limited":   limited,
		"one use":   taken,
		"tombstone": {Epoch: 1, AsOf: 9, Version: 7, Key: link.Key{Code: "gone"}},
		"no row":    {Epoch: 1, AsOf: 9, Key: link.Key{Code: "never"}},
	} {
		got, err := ParseEntry(want.Append(nil))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if *got != *want {
			t.Errorf("%s: got %+v, want %+v", name, *got, *want)
		}
	}
}

func TestParseEntryRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	good := liveEntry().Append(nil)
	for n := range good {
		if _, err := ParseEntry(good[:n]); !errors.Is(err, ErrFormat) {
			t.Fatalf("first %d of %d bytes: got error %v, want ErrFormat", n, len(good), err)
		}
	}
	if _, err := ParseEntry(append(append([]byte(nil), good...), 0)); !errors.Is(err, ErrFormat) {
		t.Errorf("a byte too many: got error %v, want ErrFormat", err)
	}
	for name, change := range map[string]func(*Entry){
		"state":   func(e *Entry) { e.State = Disabled + 1 },
		"query":   func(e *Entry) { e.Query = link.QueryTarget + 1 },
		"suffix":  func(e *Entry) { e.Suffix = link.SuffixAppend + 1 },
		"class":   func(e *Entry) { e.Class = link.Strict + 1 },
		"status":  func(e *Entry) { e.Status = 303 },
		"target":  func(e *Entry) { e.Target = "" }, // which only a limited link may lack
		"absurd":  func(e *Entry) { e.Target = string(make([]byte, maxString+1)) },
		"version": nil,
	} {
		e := liveEntry()
		b := e.Append(nil)
		if change != nil {
			change(e)
			b = e.Append(nil)
		} else {
			b[0]++ // the format byte of a newer writer
		}
		if _, err := ParseEntry(b); !errors.Is(err, ErrFormat) {
			t.Errorf("unknown %s: got error %v, want ErrFormat", name, err)
		}
	}
}

func TestChangeBytesRoundTrip(t *testing.T) {
	t.Parallel()
	e := liveEntry()
	want := Change{Epoch: 3, Shard: 12, Seq: 99, Kind: Changed, At: 5, Key: e.Key, Value: string(e.Body.Append(nil))}
	got, err := ParseChange(want.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	if *got != want {
		t.Errorf("got %+v, want %+v", *got, want)
	}
	left, ok, err := got.Entry()
	if err != nil || !ok {
		t.Fatalf("entry of the change: ok %v, error %v", ok, err)
	}
	e.AsOf, e.Version = 99, 99
	if *left != *e {
		t.Errorf("entry of the change: got %+v, want %+v", *left, *e)
	}
}

func TestPurgesLeaveNoEntry(t *testing.T) {
	t.Parallel()
	for _, c := range []Change{
		{Kind: Purge, Seq: 1, Key: link.Key{Code: "a"}},
		{Kind: PurgeAll, Seq: 1},
		{Kind: Changed, Seq: 1, Shard: ConfigShard, Value: "{}"},
	} {
		if e, ok, err := c.Entry(); e != nil || ok || err != nil {
			t.Errorf("kind %d, shard %d: got %v, %v, %v, want no entry", c.Kind, c.Shard, e, ok, err)
		}
	}
}

func TestMessagesRoundTrip(t *testing.T) {
	t.Parallel()
	row := &Change{Epoch: 2, Shard: 5, Seq: 8, Kind: Purge, Key: link.Key{Code: "x"}}
	changes := Changes{Epoch: 2, Shard: 5, Head: 9, Rows: []*Change{row}}
	got, err := ParseChanges(changes.Append(nil))
	if err != nil || got.Head != 9 || got.Reset || len(got.Rows) != 1 || *got.Rows[0] != *row {
		t.Errorf("changes: got %+v, %v", got, err)
	}
	reset := Changes{Epoch: 2, Shard: 5, Head: 9, Reset: true}
	if got, err := ParseChanges(reset.Append(nil)); err != nil || !got.Reset || got.Head != 9 {
		t.Errorf("reset: got %+v, %v", got, err)
	}

	codes := Codes{Epoch: 2, Head: 4, Hashes: []uint64{1, 1 << 63}, Last: link.Key{Domain: "d", Code: "c"}, More: true}
	page, err := ParseCodes(codes.Append(nil))
	if err != nil || page.Head != 4 || len(page.Hashes) != 2 || page.Hashes[1] != 1<<63 || page.Last != codes.Last || !page.More {
		t.Errorf("codes: got %+v, %v", page, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(liveEntry().Append(nil))
	c := Change{Epoch: 1, Seq: 1, Kind: Create, Key: link.Key{Code: "a"}, Value: "\x00"}
	f.Add(c.Append(nil))
	f.Add((&Changes{Epoch: 1, Rows: []*Change{&c}}).Append(nil))
	f.Add((&Codes{Epoch: 1, Hashes: []uint64{1}}).Append(nil))
	f.Add((&Heads{Epoch: 1}).Append(nil))
	f.Add(headsWithSalts().Append(nil))
	f.Add((&Use{Verdict: UseTaken, Entry: liveEntry()}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := ParseEntry(b); err == nil {
			again, err := ParseEntry(e.Append(nil))
			if err != nil || *again != *e {
				t.Errorf("entry %+v came back as %+v, %v", e, again, err)
			}
		}
		if c, err := ParseChange(b); err == nil {
			again, err := ParseChange(c.Append(nil))
			if err != nil || *again != *c {
				t.Errorf("change %+v came back as %+v, %v", c, again, err)
			}
			_, _, _ = c.Entry()
		}
		if c, err := ParseChanges(b); err == nil && len(c.Rows) > MaxChanges {
			t.Errorf("%d rows in one answer", len(c.Rows))
		}
		if c, err := ParseCodes(b); err == nil && len(c.Hashes) > MaxCodes {
			t.Errorf("%d hashes in one page", len(c.Hashes))
		}
		if h, err := ParseHeads(b); err == nil {
			again, err := ParseHeads(h.Append(nil))
			if err != nil || !reflect.DeepEqual(again, h) || len(h.Salts) > MaxSalts {
				t.Errorf("heads %+v came back as %+v, %v", h, again, err)
			}
		}
		if u, err := ParseUse(b); err == nil {
			again, err := ParseUse(u.Append(nil))
			if err != nil || !reflect.DeepEqual(again, u) || u.Verdict == UseTaken && u.Entry.Target == "" {
				t.Errorf("use %+v came back as %+v, %v", u, again, err)
			}
		}
	})
}
