package clicks

import (
	"fmt"
	"testing"

	"waypost/edge/internal/clicks/spool"
	"waypost/shared/click"
)

// refusing is an edge whose spool takes nothing.
func refusing(t *testing.T, o origin) *edge {
	t.Helper()
	e := startEdge(t, t.TempDir(), o, newClock(), func(files *spool.Config, _ *Config) { files.BufferBytes = 1 })
	e.stop() // a spool that has stopped refuses
	return e
}

func TestWhatTheSpoolRefusesIsCountedInMemory(t *testing.T) {
	t.Parallel()
	o, want := newOrigin(t), make(sums)
	answers := 0
	o.fault = func([]byte) (int, error) { // not applied, applied and lost, answered
		answers++
		return min(1, answers%3), errIf(answers%3 < 2)
	}
	e := refusing(t, o)
	for n := range 500 {
		e.count(want, visit(uint64(n%3), n))
		if n%50 == 0 {
			e.Cancel(e.Count(visit(9, n)), visit(9, n))
			e.round(t.Context())
		}
	}
	if got := e.Stats().InMemory; got < 1 {
		t.Errorf("got %d in memory", got)
	}
	e.settle(t)
	o.same(t, want)
	if s := e.Stats(); s.Lost != 0 || s.Shipped != 500 || s.LateVoids != 0 {
		t.Errorf("got %+v", s)
	}
}

func TestMemoryIsBoundedAndCountsWhatIsBeyond(t *testing.T) {
	t.Parallel()
	m := newMemory("b", "eu", memoryBounds{records: 4 << 10})
	taken := 0
	for n := range 1_000 {
		if _, ok := m.count(visit(1, n)); ok {
			taken++
		}
	}
	if got := m.lost.Load(); taken == 0 || taken == 1_000 || int(got) != 1_000-taken || m.clicks.Load() != int64(taken) {
		t.Errorf("got %d taken, %d held and %d lost", taken, m.clicks.Load(), got)
	}
}

func TestAVoidForWhichMemoryHasNoRoomIsCounted(t *testing.T) {
	t.Parallel()
	m := newMemory("b", "eu", memoryBounds{records: click.MaxRecord + 9, stretches: 1, bytes: stretchBytes})
	at, ok := m.count(visit(1, 1))
	for range click.MaxRecord { // fill what is left
		m.void(at)
	}
	if got := m.late.Load(); !ok || got == 0 {
		t.Errorf("got %d late voids, want those that were not taken", got)
	}
}

func TestMemoryWithoutRoomLosesClicksAlone(t *testing.T) {
	t.Parallel()
	m := newMemory("b", "eu", memoryBounds{records: 1 << 20, bytes: 64 << 10})
	for n := 0; ; n++ {
		r := visit(uint64(n), n)
		r.Referrer = fmt.Sprintf("%d.some-rather-long-name-of-a-host-to-fill-memory.example", n)
		if _, ok := m.count(r); !ok {
			break
		}
	}
	m.orphans(click.HourCount{Hour: 7, Count: 1})
	m.compact()
	m.compact()
	held, lost := m.clicks.Load(), m.lost.Load()
	if lost == 0 || held != int64(m.sum.clicks) {
		t.Errorf("got %d held and %d lost, want %d held", held, lost, m.sum.clicks)
	}
}

func TestMemoryMakesRoomBySendingNothingTwice(t *testing.T) {
	t.Parallel()
	const clicks, bytes = 20_000, 64 << 10
	m := newMemory("b", "eu", memoryBounds{records: 1 << 30, stretches: 2, bytes: bytes})
	for n := range clicks {
		r := visit(uint64(n)*7919, n)
		r.Referrer = "some-rather-long-name-of-a-host-to-fill-memory.example"
		m.count(r)
		if n%2_000 == 0 {
			m.compact()
		}
	}
	m.compact()
	m.compact()
	o := newOrigin(t)
	var applied uint64
	for p := m.next(); p != nil; p = m.next() {
		mark, err := o.Clicks(t.Context(), p.bytes)
		if err != nil || len(p.bytes) > bytes*click.MaxStretch/stretchBytes {
			t.Fatalf("got %d bytes, %v", len(p.bytes), err)
		}
		applied += m.answered(mark)
	}
	if lost := m.lost.Load(); lost == 0 || applied+lost != clicks || m.clicks.Load() != 0 {
		t.Errorf("got %d applied and %d lost of %d, %d held", applied, lost, clicks, m.clicks.Load())
	}
}

func TestMemoryGoesOnFromAnyMark(t *testing.T) {
	t.Parallel()
	m := newMemory("b", "eu", memoryBounds{records: 1 << 20, stretches: 2, bytes: stretchBytes})
	for n := range 10 {
		m.count(visit(1, n))
	}
	m.compact()
	m.compact()
	p := m.next()
	if p == nil || p.from != 0 || p.to != 10 || m.next() != p {
		t.Fatalf("got %+v, want the same one until it is answered", p)
	}
	if n := m.answered(0); n != 0 || m.next() != p {
		t.Errorf("got %d applied of what was not", n)
	}
	m.answered(77) // another database
	if p = m.next(); p.from != 77 || p.to != 87 {
		t.Errorf("got %d to %d, want 77 to 87", p.from, p.to)
	}
	if n := m.answered(87); n != 10 || m.next() != nil {
		t.Errorf("got %d applied, want 10", n)
	}
}

func TestOrphansThatTheSpoolRefusesAreCountedInMemory(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	e := refusing(t, o)
	e.Orphan(click.HourStart(7))
	for range 4 {
		e.round(t.Context())
	}
	o.same(t, sums{"orphans 7": 1})
}
