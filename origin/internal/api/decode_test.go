package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestDecodeNamesEveryFault(t *testing.T) {
	t.Parallel()
	var body LinkCreate
	faults, err := decode([]byte(`{"target": null, "title": "a", "Title": "b", "title": "c", "tags": [1], "version": 1, "enabled": "x"}`), &body)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range faults {
		got = append(got, f.Field+" "+f.Reason)
	}
	want := []string{
		"Title is not a known field", "title is given more than once", "tags item 1 must be a string",
		"version is read-only", "enabled must be true or false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("faults = %q, want %q", got, want)
	}
	if !body.Target.Set || body.Target.Value != nil || *body.Title.Value != "a" || body.Owner.Set {
		t.Errorf("body = %+v, want target null, title a and owner left out", body)
	}
}

func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "-0": 0, "302": 302, "302.0": 302, "3.02e2": 302, "9223372036854775807": 9223372036854775807} {
		var got int64
		if err := readWhole([]byte(text), &got); err != nil || got != want {
			t.Errorf("readWhole(%s) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"302.5", "1e400", "9223372036854775808", "1e18", `"302"`, "true", "{}", "[]"} {
		var got int64
		if err := readWhole([]byte(text), &got); err == nil {
			t.Errorf("readWhole(%s) = %d, want an error", text, got)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		`"2030-01-02T15:04:05Z"`:           time.Date(2030, 1, 2, 15, 4, 5, 0, time.UTC),
		`"2030-01-02T15:04:05.25+23:59"`:   time.Date(2030, 1, 1, 15, 5, 5, 250_000_000, time.UTC),
		`"2030-01-02T00:04:05-05:00"`:      time.Date(2030, 1, 2, 5, 4, 5, 0, time.UTC),
		`"\u0032030-01-02T15:04:05-00:00"`: time.Date(2030, 1, 2, 15, 4, 5, 0, time.UTC),
	} {
		var got time.Time
		if err := readTime([]byte(text), &got); err != nil || !got.Equal(want) {
			t.Errorf("readTime(%s) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		`"2030-01-02T15:04:05,25Z"`, `"2030-01-02T5:04:05Z"`, `"2030-01-02T15:04:05+24:00"`, `"2030-01-02T15:04:05-24:00"`, `"2030-01-02T15:04:05"`,
		`"2030-01-02"`, `"2030-13-02T15:04:05Z"`, `"2030-01-02T24:00:00Z"`, `"2030-01-02 15:04:05Z"`, `""`, `7`, `true`, `{}`, `[]`,
	} {
		var got time.Time
		if err := readTime([]byte(text), &got); err == nil {
			t.Errorf("readTime(%s) = %v, want an error", text, got)
		}
	}
}

// FuzzDecode holds what is accepted against encoding/json, which is laxer.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"target":"https://example.com/"}`, `{"title":"\ud83d\ude00"}`, `{"title":"\ud83d"}`, `{"title":"\ude00\ud83d"}`,
		`{"title":"\\ud83d"}`, `{"title":"\ud83d\n"}`, `{"tags":["a",null]}`, `{"starts_at":"2030-01-01T00:00:00Z"}`, `{"status":3.02e2}`,
		`{"title":"a","title":"b"}`, `[]`, `{"a":{"b":[1,2,{"c":null}]}}`, "{\"title\":\"\xff\"}", `{"title":"\ufffd�"}`, `{"reuse":true}x`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var body LinkCreate
		faults, err := decode(raw, &body)
		for _, fault := range faults {
			if fault.Reason == "" || !utf8.ValidString(fault.Field) {
				t.Errorf("fault %+v", fault)
			}
		}
		if err != nil || len(faults) > 0 {
			return
		}
		var lax map[string]any
		if err := json.Unmarshal(raw, &lax); err != nil {
			t.Fatalf("%q was accepted: %v", raw, err)
		}
		title, _ := lax["title"].(string)
		switch {
		case body.Title.Value == nil && lax["title"] != nil, body.Title.Value != nil && *body.Title.Value != title:
			t.Errorf("title of %q = %v, want %q", raw, body.Title.Value, title)
		case strings.ContainsRune(title, utf8.RuneError) && !strings.Contains(strings.ToLower(string(raw)), `\ufffd`) && !strings.ContainsRune(string(raw), utf8.RuneError):
			t.Errorf("a character of %q was replaced: %q", raw, title)
		}
	})
}

// FuzzLoneSurrogate: a string has one exactly if encoding/json has to replace
// something that was not U+FFFD already.
func FuzzLoneSurrogate(f *testing.F) {
	for _, seed := range []string{``, `a`, `\ud83d\ude00`, `\ud83d`, `\ude00`, `\\ud83d`, `\ud83dx\ude00`, `\ud83d\n`, `\ud83d\ud83d\ude00`, `\u00e9\"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, inner string) {
		raw := []byte(`"` + inner + `"`)
		var got string
		if !utf8.Valid(raw) || json.Unmarshal(raw, &got) != nil {
			return
		}
		if strings.Contains(strings.ToLower(inner), `\ufffd`) || strings.ContainsRune(inner, utf8.RuneError) {
			_ = hasLoneSurrogate(raw) // only: does not panic
			return
		}
		if want := strings.ContainsRune(got, utf8.RuneError); hasLoneSurrogate(raw) != want {
			t.Errorf("hasLoneSurrogate(%s) = %v, want %v", raw, !want, want)
		}
	})
}
