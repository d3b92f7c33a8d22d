package fleet

import (
	"testing"
	"time"
)

// OneDay makes sure that so much of the day (UTC) is left, for a test that looks at what was counted today.
func OneDay(tb testing.TB, left time.Duration) {
	tb.Helper()
	const day = 24 * time.Hour
	if now := time.Now(); now.Add(left).Truncate(day).After(now) {
		Pass(tb, time.Until(now.Truncate(day).Add(day+time.Second)))
	}
}
