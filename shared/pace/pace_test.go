package pace

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// on sets the number of processors for a test, which cannot run beside others.
func on(t *testing.T, processors int) {
	t.Helper()
	before := runtime.GOMAXPROCS(processors)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// work is a piece of work that takes so long, and then a rest; time passes in a bubble only.
func work(p *Pace, takes time.Duration) {
	<-time.After(takes)
	p.Rest()
}

// share is what work in pieces takes of the time, from 0 to 1.
func share(piece time.Duration) float64 {
	const pieces = 10_000
	p, began := New(), time.Now()
	for range pieces {
		work(p, piece)
	}
	return float64(pieces*piece) / float64(time.Since(began))
}

func TestWorkTakesAnEighthOfAllProcessorsTime(t *testing.T) {
	for processors, want := range map[int]float64{1: 0.125, 2: 0.25, 4: 0.5, 8: 1, 9: 1} {
		on(t, processors)
		synctest.Test(t, func(t *testing.T) {
			for _, piece := range []time.Duration{time.Microsecond, 5 * time.Microsecond, 20 * time.Microsecond} {
				if got := share(piece); got < want-0.02 || got > want+0.02 {
					t.Errorf("%d processors, pieces of %s: got %.3f of the time, want %.2f", processors, piece, got, want)
				}
			}
		})
	}
}

func TestAStretchOfWorkIsShort(t *testing.T) {
	on(t, 1)
	synctest.Test(t, func(t *testing.T) {
		const piece = 2 * time.Microsecond
		p, began, most := New(), time.Now(), time.Duration(0)
		for range 10_000 {
			before := time.Now()
			work(p, piece)
			if after := time.Now(); after.Sub(before) > piece { // it slept
				most, began = max(most, before.Add(piece).Sub(began)), after
			}
		}
		if want := slice + looks*piece; most == 0 || most > want {
			t.Errorf("got a stretch of %s, want at most %s", most, want)
		}
	})
}

func TestALongWaitIsNotMadeUpFor(t *testing.T) {
	on(t, 1)
	synctest.Test(t, func(t *testing.T) {
		p := New()
		<-time.After(time.Minute)
		began := time.Now()
		for range looks {
			p.Rest()
		}
		if got, want := time.Since(began), 7*longest; got != want {
			t.Errorf("got %s of rest, want %s", got, want)
		}
	})
}

func TestInAHurryThereIsNoRest(t *testing.T) {
	on(t, 1)
	synctest.Test(t, func(t *testing.T) {
		p := New()
		p.Hurry()
		began := time.Now()
		for range 100 {
			work(p, time.Millisecond)
		}
		if got, want := time.Since(began), 100*time.Millisecond; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestNoPaceNeverRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		for range 100 {
			work(nil, time.Millisecond)
		}
		if got, want := time.Since(began), 100*time.Millisecond; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
