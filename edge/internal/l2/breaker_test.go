package l2

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

var errRedis = errors.New("redis")

// attempt makes one attempt that ends as how; false if it was not let through.
func attempt(b *breaker, how outcome) bool {
	probe, ok := b.enter()
	if ok {
		b.leave(probe, how, errRedis)
	}
	return ok
}

func TestTheBreakerOpensAfterFailuresInARow(t *testing.T) {
	t.Parallel()
	var reports []error
	b := breaker{report: func(err error) { reports = append(reports, err) }}
	for range 3 {
		for range breakAfter - 1 {
			attempt(&b, failed)
		}
		attempt(&b, answered)
	}
	if b.open.Load() || len(reports) != 0 {
		t.Fatalf("failures that are not in a row: got open %v, reports %v, want closed", b.open.Load(), reports)
	}
	for range breakAfter {
		attempt(&b, failed)
	}
	if attempt(&b, answered) {
		t.Error("attempt right after it opened: got through, want refused")
	}
	if !slices.Equal(reports, []error{errRedis}) {
		t.Errorf("reports: got %v, want the one error", reports)
	}
}

func TestTheBreakerProbesAndCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reports []error
		b := breaker{report: func(err error) { reports = append(reports, err) }}
		for range breakAfter {
			attempt(&b, failed)
		}
		for range 10 { // each pause is at most maxBreak, however often the probe fails
			time.Sleep(maxBreak)
			probe, ok := b.enter()
			if !ok || !probe {
				t.Fatalf("after the pause: got through %v as probe %v, want true, true", ok, probe)
			}
			if attempt(&b, answered) {
				t.Fatal("second attempt beside the probe: got through, want refused")
			}
			b.leave(probe, failed, errRedis)
		}
		time.Sleep(maxBreak)
		if !attempt(&b, unknown) || !b.open.Load() {
			t.Fatal("a probe whose caller left must leave it open, for the next probe")
		}
		for range 2 {
			if !attempt(&b, answered) {
				t.Error("probe that is answered, and what follows: got refused, want through")
			}
		}
		if !slices.Equal(reports, []error{errRedis, nil}) {
			t.Errorf("reports: got %v, want the error, then nil", reports)
		}
	})
}

// Many lookups may be waiting for their timeouts when the breaker opens.
func TestAttemptsFromBeforeItOpenedChangeNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := breaker{report: func(error) {}}
		late, _ := b.enter()
		for range breakAfter {
			attempt(&b, failed)
		}
		b.leave(late, answered, nil)
		if !b.open.Load() {
			t.Error("late success: got closed, want open")
		}
		for range 10 * breakAfter {
			b.leave(late, failed, errRedis)
		}
		time.Sleep(minBreak)
		if !attempt(&b, answered) {
			t.Error("after the first pause: got refused, want through: late failures made it longer")
		}
	})
}
