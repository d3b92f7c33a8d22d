package postgres

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"waypost/shared/link"
)

// whole is a link with something in every field.
func whole(t *testing.T) link.Link {
	t.Helper()
	at := time.Date(2030, 1, 2, 3, 4, 5, 678_901_000, time.UTC)
	l := link.Link{
		ID: 7, Key: link.Key{Domain: "go.example", Code: "cafe"}, Target: "https://example.com/?a=1&b=<2>", Status: 307, Enabled: true,
		Owner: "ann", Title: "T", Tags: []string{"b", "a"}, Query: link.QueryTarget, Suffix: link.SuffixAppend, Class: link.Strict,
		Clicks: true, StartsAt: at, ExpiresAt: at.Add(time.Hour), ExpiredURL: "https://example.com/over", MaxClicks: 3,
		CreatedAt: at.Add(-time.Hour), UpdatedAt: at.Add(-time.Minute), DeletedAt: at.Add(-time.Second), Epoch: 2, Version: 41,
	}
	for v, i := reflect.ValueOf(l), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Fatalf("%s has nothing in it: give it a value here, and a place in the stored form", v.Type().Field(i).Name)
		}
	}
	return l
}

// Origins of two releases answer calls that either has carried out. What was
// written before there were formats is read for ever, and what is written now by
// a release that reads that.
func TestTheStoredFormOfAnswersStays(t *testing.T) {
	t.Parallel()
	want := whole(t)
	written, err := encodeAnswer(&want)
	if err != nil {
		t.Fatal(err)
	}
	for name, format := range map[string]string{"answer-0.json": "", "answer-1.json": `"Format":1,`} {
		golden, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeAnswer(golden); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as\n%+v, %v, want\n%+v", name, got, err, want)
		}
		if got := strings.Replace(written, `"Format":1,`, format, 1); got != strings.TrimSpace(string(golden)) {
			t.Errorf("written\n%s\nwant, as in %s,\n%s", got, name, golden)
		}
	}
}

func TestAnAnswerThatCannotBeReadIsNoLink(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]error{`{"Format": 2, "Code": "a"}`: link.ErrUnavailable, `{"ID": "a"}`: nil, ``: nil} {
		if l, err := decodeAnswer([]byte(stored)); err == nil || want != nil && !errors.Is(err, want) || l.Key != (link.Key{}) {
			t.Errorf("%q: %+v, %v, want an error like %v", stored, l, err, want)
		}
	}
}
