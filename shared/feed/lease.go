package feed

// Instant is a moment by an edge's own monotonic clock, in nanoseconds since
// some moment before its start; 0 means never.
type Instant int64

// maxWaiting bounds the answers of probes that wait for their heads.
const maxWaiting = 16

// waiting keeps the answers whose heads are not applied yet, oldest first.
type waiting struct {
	answers [maxWaiting]answer
	n       int
}

type answer struct {
	sent Instant
	head uint64
}

func (w *waiting) forget() { w.n = 0 }

// add keeps an answer, if need be instead of the oldest.
func (w *waiting) add(a answer) {
	if w.n == maxWaiting {
		copy(w.answers[:], w.answers[1:])
		w.n--
	}
	w.answers[w.n] = a
	w.n++
}

// reached takes out the answers whose heads are applied and returns the latest
// moment that one of them was asked at; 0 if there is none.
func (w *waiting) reached(applied uint64) (latest Instant) {
	kept := 0
	for _, a := range w.answers[:w.n] {
		if a.head <= applied {
			latest = max(latest, a.sent)
			continue
		}
		w.answers[kept] = a
		kept++
	}
	w.n = kept
	return latest
}

// Answer takes a probe's answer for a shard: at the moment sent, or later, its
// head was the shard's last position. Once the head is applied the lease runs
// from sent. An answer of another epoch than the shard's changes nothing; a
// newer one's heads go to Reset first, and so do those for a shard without a
// position.
func (t *Table) Answer(n int, epoch uint64, sent Instant, head uint64) {
	s := t.shard[n].state.Load()
	if s == nil || s.epoch != epoch || s.adopted() {
		return
	}
	t.shard[n].waiting.add(answer{sent: sent, head: head})
	t.renew(n, s)
}

// renew stores the lease of the latest answer whose head is applied. It comes
// after applied was stored.
func (t *Table) renew(n int, s *state) {
	sh := &t.shard[n]
	if at := sh.waiting.reached(s.applied.Load()); at > Instant(sh.lease.Load()) {
		t.storeLease(n, at)
	}
}

// DropLeases ends every lease, as after the machine was suspended: its
// monotonic clock stood still, so that old leases look young. Answers of probes
// sent before must not be given to Answer any more.
func (t *Table) DropLeases() {
	for n := range t.shard {
		t.shard[n].waiting.forget()
		t.storeLease(n, 0)
	}
}

// Lease is the shard's lease; 0 if it has none. Safe from any goroutine.
func (t *Table) Lease(n int) Instant { return Instant(t.shard[n].lease.Load()) }
