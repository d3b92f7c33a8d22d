package ops_test

import (
	"regexp"
	"strings"
	"testing"

	"waypost/shared/ops"
)

func TestRequestIDKeepsSaneOnes(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "Az09._-", strings.Repeat("x", 64)} {
		if got := ops.RequestID(id); got != id {
			t.Errorf("RequestID(%q) = %q, want it kept", id, got)
		}
	}
}

func TestRequestIDReplacesTheRest(t *testing.T) {
	t.Parallel()
	made := regexp.MustCompile(`^[0-9a-f]{16}$`)
	seen := map[string]bool{}
	for _, id := range []string{"", strings.Repeat("x", 65), "a b", "a\r\nb", "ü", `a"b`, "a/b", "\x00"} {
		got := ops.RequestID(id)
		if !made.MatchString(got) || seen[got] {
			t.Errorf("RequestID(%q) = %q, want a new id of 16 hex digits", id, got)
		}
		seen[got] = true
	}
}

func FuzzRequestID(f *testing.F) {
	for _, seed := range []string{"", "abc", "a b", "\xff"} {
		f.Add(seed)
	}
	sane := regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	f.Fuzz(func(t *testing.T, id string) {
		got := ops.RequestID(id)
		if !sane.MatchString(got) || sane.MatchString(id) != (got == id) {
			t.Fatalf("RequestID(%q) = %q", id, got)
		}
	})
}
