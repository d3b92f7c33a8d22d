package fleet

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// patience bounds every wait. It is far beyond what a wait takes on a slow machine: running into it means that the
// awaited thing does not happen.
const patience = 30 * time.Second

// Await polls until happened returns nil, and fails the test with its last error when it does not in time.
func Await(tb testing.TB, what string, happened func() error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := happened()
		if err == nil {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			tb.Fatalf("%s: not in time: %v", what, err)
		}
	}
}

// Pass waits for some time to pass, where time itself is what a test is about.
func Pass(tb testing.TB, d time.Duration) {
	tb.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-tb.Context().Done():
		tb.Fatal("the test ended during a wait")
	}
}

// differs is an error that says what was found and what was awaited.
func differs(what string, got, want any) error {
	return fmt.Errorf("%s: got %v, want %v", what, got, want)
}
