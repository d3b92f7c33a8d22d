package postgres

import (
	"testing"
	"time"
)

func FuzzParseCursor(f *testing.F) {
	created := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	f.Add("", byte(newestFirst))
	f.Add(cursor{order: newestFirst, key: created, id: -7}.text(), byte(newestFirst))
	f.Add(cursor{order: oldestFirst, key: created, id: 7}.text(), byte(oldestFirst))
	f.Add(cursor{order: mostClicked, key: 1 << 62, id: 7}.text(), byte(mostClicked))
	f.Fuzz(func(t *testing.T, s string, o byte) {
		c, err := parseCursor(s, order(o))
		if err != nil {
			return
		}
		if got := c.text(); got != s {
			t.Errorf("cursor %q reads as %+v, which is written %q", s, c, got)
		}
		for other := newestFirst; other <= mostClicked; other++ {
			if _, err := parseCursor(s, other); err == nil && other != c.order {
				t.Errorf("cursor %q of order %d is taken for order %d", s, c.order, other)
			}
		}
	})
}
