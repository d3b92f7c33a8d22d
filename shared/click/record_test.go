package click

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func record() Record {
	return Record{
		At: 1_790_000_000_123_456, Link: 77, Shard: 63, Version: 1 << 40, Status: 302, Visitor: 1<<63 + 5,
		Referrer: "news.example", Language: "pt-br", Country: "BR",
		Device: Mobile, Browser: Samsung, OS: Android, Bot: true,
	}
}

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	longest := record()
	longest.Link, longest.Version = 1<<64-1, 1<<64-1
	longest.Referrer, longest.Language = strings.Repeat("r", MaxReferrer), strings.Repeat("l", MaxLanguage)
	for name, want := range map[string]Record{
		"full": record(), "empty": {}, "longest": longest,
		"a referrer outside ASCII": {Referrer: "bücher.example"},
	} {
		payload := want.Append(nil)
		if len(payload) > MaxRecord || KindOf(payload) != KindClick {
			t.Errorf("%s: got %d bytes of kind %d", name, len(payload), KindOf(payload))
		}
		if got, err := ParseRecord(payload); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
}

func TestARecordIsCutToItsBounds(t *testing.T) {
	t.Parallel()
	r := Record{
		At: -5, Referrer: strings.Repeat("ü", 4096), Language: strings.Repeat("x", 99), Country: "Brazil",
		Device: 200, Browser: 200, OS: 200,
	}
	want := Record{Referrer: strings.Repeat("ü", MaxReferrer/2), Language: strings.Repeat("x", MaxLanguage)}
	if got, err := ParseRecord(r.Append(nil)); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	r = Record{At: 1<<63 - 1}
	if got, err := ParseRecord(r.Append(nil)); err != nil || got.At != maxAt {
		t.Errorf("got %+v, %v, want the last time there is", got, err)
	}
}

func TestStringsThatAreNoTextAreOther(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"\xff", "a\x00b", "a\nb", "\x7f"} {
		r := Record{Referrer: s, Language: s}
		got, err := ParseRecord(r.Append(nil))
		if err != nil || got.Referrer != Other || got.Language != Other {
			t.Errorf("%q: got %q and %q, %v", s, got.Referrer, got.Language, err)
		}
	}
}

func TestADamagedRecordIsRefused(t *testing.T) {
	t.Parallel()
	r := record()
	payload := r.Append(nil)
	for n := range payload {
		if _, err := ParseRecord(payload[:n]); !errors.Is(err, ErrFormat) {
			t.Errorf("cut to %d bytes: got %v", n, err)
		}
	}
	if _, err := ParseRecord(append(payload, 0)); !errors.Is(err, ErrFormat) {
		t.Errorf("a byte too many: got %v", err)
	}
	if _, err := ParseRecord(AppendVoid(nil, 1)); !errors.Is(err, ErrFormat) {
		t.Errorf("another kind: got %v", err)
	}
}

func TestVoidsAndOrphansAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	void := AppendVoid(nil, 1<<60)
	if at, err := ParseVoid(void); err != nil || at != 1<<60 || KindOf(void) != KindVoid {
		t.Errorf("got %d, %v", at, err)
	}
	want := HourCount{Hour: 497_222, Count: 12}
	orphans := want.Append(nil)
	if got, err := ParseOrphans(orphans); err != nil || got != want || KindOf(orphans) != KindOrphans {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, b := range [][]byte{nil, {byte(KindVoid)}, {byte(KindOrphans)}, append(void, 0), append(orphans, 0), record2()} {
		if _, err := ParseVoid(b); !errors.Is(err, ErrFormat) {
			t.Errorf("void of % x: got %v", b, err)
		}
		if _, err := ParseOrphans(b); !errors.Is(err, ErrFormat) {
			t.Errorf("orphans of % x: got %v", b, err)
		}
	}
}

func record2() []byte {
	r := record()
	return r.Append(nil)
}

func TestNamesOfClassesLeadBack(t *testing.T) {
	t.Parallel()
	for d := range Device(Devices) {
		if got, ok := ParseDevice(d.String()); !ok || got != d {
			t.Errorf("device %s: got %d, %t", d, got, ok)
		}
	}
	for b := range Browser(Browsers) {
		if got, ok := ParseBrowser(b.String()); !ok || got != b {
			t.Errorf("browser %s: got %d, %t", b, got, ok)
		}
	}
	for o := range OS(Systems) {
		if got, ok := ParseOS(o.String()); !ok || got != o {
			t.Errorf("system %s: got %d, %t", o, got, ok)
		}
	}
	if _, ok := ParseOS("beos"); ok {
		t.Error("got a system that there is not")
	}
	if got := OS(99).String(); got != Other {
		t.Errorf("a system of a newer version: got %q", got)
	}
}

func TestAppendingARecordAllocatesNothing(t *testing.T) {
	r := record()
	var buf [MaxRecord]byte
	if n := testing.AllocsPerRun(100, func() { r.Append(buf[:0]) }); n != 0 {
		t.Errorf("got %v allocations", n)
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add(record2())
	f.Add(AppendVoid(nil, 9))
	f.Add(HourCount{Hour: 1, Count: 2}.Append(nil))
	f.Fuzz(func(t *testing.T, payload []byte) {
		if at, err := ParseVoid(payload); err == nil && string(AppendVoid(nil, at)) != string(payload) {
			t.Errorf("void %d has two forms", at)
		}
		if c, err := ParseOrphans(payload); err == nil && string(c.Append(nil)) != string(payload) {
			t.Errorf("orphans %+v have two forms", c)
		}
		r, err := ParseRecord(payload)
		if err != nil {
			return
		}
		if len(r.Referrer) > MaxReferrer || len(r.Language) > MaxLanguage || !utf8.ValidString(r.Referrer+r.Language+r.Country) {
			t.Errorf("got %+v", r)
		}
		if again, err := ParseRecord(r.Append(nil)); err != nil || len(r.Country) == 2 && again != r {
			t.Errorf("got %+v, %v, want %+v", again, err, r)
		}
	})
}
