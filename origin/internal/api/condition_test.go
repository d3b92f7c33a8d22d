package api

import (
	"net/http"
	"slices"
	"testing"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

func TestIfMatch(t *testing.T) {
	t.Parallel()
	v := func(epoch, seq uint64) links.Version { return links.Version{Epoch: epoch, Seq: seq} }
	for _, c := range []struct {
		header string
		want   []links.Version
	}{
		{"", nil},
		{" * ", nil},
		{`"1.2"`, []links.Version{v(1, 2)}},
		{`"1.2" ,"18446744073709551615.3"`, []links.Version{v(1, 2), v(18446744073709551615, 3)}},
		{`W/"1.2"`, []links.Version{}},
		{`1.2`, []links.Version{}},
		{`"1.2`, []links.Version{}},
		{`"1"`, []links.Version{}},
		{`"1.2.3"`, []links.Version{}},
		{`"-1.2"`, []links.Version{}},
		{`"18446744073709551616.3"`, []links.Version{}},
		{`"`, []links.Version{}},
		{`,`, []links.Version{}},
	} {
		if got := ifMatch(c.header); !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("ifMatch(%s) = %v, want %v", c.header, got, c.want)
		}
	}
}

func TestConditionsOfSeveralLinesAreOneList(t *testing.T) {
	t.Parallel()
	h := http.Header{"If-Match": {`"1.2"`, `"1.3", "1.4"`}, "If-None-Match": {`"1.2"`}}
	joinLines(h, "If-Match", "If-None-Match")
	for name, want := range map[string][]string{"If-Match": {`"1.2", "1.3", "1.4"`}, "If-None-Match": {`"1.2"`}} {
		if got := h.Values(name); !slices.Equal(got, want) {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

func TestETagIsReadBack(t *testing.T) {
	t.Parallel()
	l := &link.Link{Epoch: 3, Version: 1<<63 + 5}
	if got := ifMatch(etag(l)); len(got) != 1 || got[0] != (links.Version{Epoch: l.Epoch, Seq: l.Version}) {
		t.Errorf("ifMatch(%s) = %v", etag(l), got)
	}
	for header, want := range map[string]bool{
		"": false, etag(l): true, "W/" + etag(l): true, "*": true, `"x", ` + etag(l): true, `"3.1"`: false,
	} {
		if got := ifNoneMatch(header, etag(l)); got != want {
			t.Errorf("ifNoneMatch(%s) = %v, want %v", header, got, want)
		}
	}
}
