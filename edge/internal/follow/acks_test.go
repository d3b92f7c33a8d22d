package follow

import (
	"testing"
	"testing/synctest"
	"time"

	"waypost/shared/feed"
)

// from is what the feed brings from an origin.
func from(origin string, changes ...*feed.Change) (all []message) {
	for _, c := range changes {
		all = append(all, message{Change: c, reply: feed.SubjectAck("t", origin)})
	}
	return all
}

func (e *edge) receiveAll(messages []message) {
	for _, m := range messages {
		e.messages <- m
	}
}

// acked is what was acknowledged to a subject, in order; it forgets it.
func (w *wire) acked(subject string) (positions [][]feed.Position) {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.published {
		if a.subject == subject {
			positions = append(positions, a.Positions)
		}
	}
	w.published = nil
	return positions
}

func same(got [][]feed.Position, want ...feed.Position) bool {
	if len(got) != 1 || len(got[0]) != len(want) {
		return false
	}
	for i := range want {
		if got[0][i] != want[i] {
			return false
		}
	}
	return true
}

func TestAppliedChangesAreAcknowledgedTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, w := newCenter(), &wire{silent: true}
		table := feed.NewTable(slots, 1)
		for shard, log := range c.log {
			table.Reset(shard, 1, uint64(len(log)))
		}
		e := newEdge(c, table)
		e.asker.bus, e.acker.bus = w, w
		// What waits when the loop looks is one turn.
		e.receiveAll(from("a", append(c.write(0, 3), c.write(9, 2)...)...))
		e.receiveAll(from("b", c.write(11, 1)...))
		e.run(t)
		synctest.Wait()
		w.mu.Lock()
		published := w.published
		w.mu.Unlock()
		bySubject := make(map[string][][]feed.Position)
		for _, a := range published {
			if a.Member != e.Member() || a.Epoch != 1 {
				t.Errorf("got an acknowledgement of %+v in epoch %d", a.Member, a.Epoch)
			}
			bySubject[a.subject] = append(bySubject[a.subject], a.Positions)
		}
		if got := bySubject["t.ack.a"]; !same(got, feed.Position{Shard: 0, Seq: 8}, feed.Position{Shard: 9, Seq: 2}) {
			t.Errorf("to a: got %v", got)
		}
		if got := bySubject["t.ack.b"]; !same(got, feed.Position{Shard: 11, Seq: 1}) {
			t.Errorf("to b: got %v", got)
		}
		e.end(t)
	})
}

func TestOnlyAppliedChangesAreAcknowledged(t *testing.T) {
	overWire(t, func(t *testing.T, web *center, w *wire, e *edge) {
		t.Helper()
		made := web.write(0, 3)
		e.receiveAll(from("a", made[1], made[2]))
		if got := w.acked("t.ack.a"); got != nil {
			t.Errorf("before the first: got %v, want none", got)
		}
		e.receiveAll(from("b", made[0]))
		synctest.Wait()
		w.mu.Lock()
		published := append([]sentAck(nil), w.published...)
		w.mu.Unlock()
		for _, subject := range []string{"t.ack.a", "t.ack.b"} {
			found := false
			for _, a := range published {
				found = found || a.subject == subject && a.Positions[0] == feed.Position{Shard: 0, Seq: 8}
			}
			if !found {
				t.Errorf("%s: got %v, want position 8 of shard 0", subject, published)
			}
		}
		w.set(func(w *wire) { w.published = nil })
		e.receiveAll(from("a", &feed.Change{Epoch: 7, Shard: 0, Seq: 9, Kind: feed.Create}))
		if got := w.acked("t.ack.a"); got != nil {
			t.Errorf("of another epoch: got %v, want none", got)
		}
	})
}

func TestARepeatIsAcknowledgedAgain(t *testing.T) {
	overWire(t, func(t *testing.T, web *center, w *wire, e *edge) {
		t.Helper()
		made := from("a", web.write(0, 1)...)
		for range 3 {
			e.receiveAll(made)
			if got := w.acked("t.ack.a"); !same(got, feed.Position{Shard: 0, Seq: 6}) {
				t.Errorf("got %v, want position 6 once", got)
			}
		}
	})
}

func TestNobodyElseIsAnswered(t *testing.T) {
	overWire(t, func(t *testing.T, web *center, w *wire, e *edge) {
		t.Helper()
		for i, reply := range []string{"", "t.feed.0", "t.probe", "elsewhere"} {
			e.messages <- message{Change: web.write(0, 1)[0], reply: reply}
			e.at(t, 0, 1, uint64(6+i))
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.published) != 0 {
			t.Errorf("got %v, want nothing published", w.published)
		}
	})
}

// posted is the highest position of a shard that was acknowledged over HTTP.
func (c *center) posted(shard int) (seq uint64) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.acks {
		for _, p := range a.Positions {
			if p.Shard == shard {
				seq = max(seq, p.Seq)
			}
		}
	}
	return seq
}

func TestFetchedChangesAreAcknowledgedToEveryOrigin(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		c.write(0, 10)
		time.Sleep(probeEvery + 3*gapPatience)
		e.at(t, 0, 1, 15)
		if got := c.posted(0); got != 15 {
			t.Errorf("got %d, want 15", got)
		}
		c.set(func(c *center) { c.gone = 30 })
		c.write(0, 20)
		time.Sleep(probeEvery + 3*gapPatience)
		e.at(t, 0, 1, 35)
		if got := c.posted(0); got != 35 {
			t.Errorf("after a reset: got %d, want 35", got)
		}
	})
}

// NATS reaches origins that this edge does not call.
func TestFetchedChangesAreAcknowledgedOverNATSToo(t *testing.T) {
	overWire(t, func(t *testing.T, web *center, w *wire, e *edge) {
		t.Helper()
		web.write(0, 3)
		w.origin.write(0, 3)
		time.Sleep(probeEvery + 3*gapPatience)
		e.at(t, 0, 1, 8)
		if got := w.acked(feed.SubjectAckAll("t")); !same(got, feed.Position{Shard: 0, Seq: 8}) {
			t.Errorf("got %v, want position 8 of shard 0", got)
		}
		w.set(func(w *wire) { w.failing = errDown })
		web.write(0, 1)
		w.origin.write(0, 1)
		time.Sleep(probeEvery + 3*gapPatience)
		if got := web.posted(0); got != 9 {
			t.Errorf("without NATS: got %d, want 9", got)
		}
		if got := e.Stats().AckFaults; got != 0 {
			t.Errorf("got %d faults, want none: it went over HTTP", got)
		}
	})
}

func TestWhatNATSDoesNotTakeIsPosted(t *testing.T) {
	overWire(t, func(t *testing.T, web *center, w *wire, e *edge) {
		t.Helper()
		w.set(func(w *wire) { w.failing = errDown })
		e.receiveAll(from("a", web.write(0, 3)...))
		if got := web.posted(0); got != 8 {
			t.Errorf("got %d, want 8", got)
		}
	})
}

func TestProbesSayWhatIsApplied(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		c.mu.Lock()
		if first := c.probes[0]; first.Epoch != 0 || first.Applied != [feed.AllShards]uint64{} || first.Leaving {
			t.Errorf("the first probe: got %+v, want no position", first.Probe)
		}
		c.mu.Unlock()
		e.push(c.write(0, 2)...)
		time.Sleep(probeEvery)
		synctest.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		last := c.probes[len(c.probes)-1]
		if last.Member != e.Member() || last.Epoch != 1 || last.Applied[0] != 7 || last.Applied[feed.ConfigShard] != 2 {
			t.Errorf("got %+v, want positions 7 and 2 of epoch 1", last.Probe)
		}
	})
}

func TestEveryStartIsAnotherMember(t *testing.T) {
	t.Parallel()
	long := make([]byte, 100)
	for i := range long {
		long[i] = 'x'
	}
	a := newEdge(nil, feed.NewTable(slots, 1), func(cfg *Config) { cfg.ID = string(long) })
	b := newEdge(nil, feed.NewTable(slots, 1), func(cfg *Config) { cfg.ID = string(long) })
	if a.Member().ID != b.Member().ID || a.Member().Boot == b.Member().Boot {
		t.Errorf("got %+v and %+v, want one id and two boots", a.Member(), b.Member())
	}
	if _, err := feed.ParseProbe(a.standing().Append(nil)); err != nil {
		t.Errorf("a long id: %v", err)
	}
}
