package postgres

import (
	"testing"
	"time"
)

func FuzzParseCursor(f *testing.F) {
	f.Add("", true)
	f.Add(cursor{created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), id: 7}.text(true), true)
	f.Add(cursor{created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), id: -7}.text(false), false)
	f.Fuzz(func(t *testing.T, s string, oldest bool) {
		c, err := parseCursor(s, oldest)
		if err != nil {
			return
		}
		if got := c.text(oldest); got != s {
			t.Errorf("cursor %q reads as %+v, which is written %q", s, c, got)
		}
		if _, err := parseCursor(s, !oldest); err == nil {
			t.Errorf("cursor %q is taken for both orders", s)
		}
	})
}
