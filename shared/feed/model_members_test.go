package feed

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The model of a barrier: one edge whose acknowledgements may be lost, the
// edge's row, and writes that wait for it. Time is in ticks of one second here,
// and B is two of them.
const (
	memberBound = 2 * time.Second
	lastTick    = 7
)

// members is one state. Every write sets the same link.
type members struct {
	now    uint8
	left   uint8 // tick + 1; 0: the edge has not left
	writes [2]barrier
	head   uint8

	applied uint8
	leased  uint8  // tick + 1 that the lease runs from; 0: none
	asked   [2]ask // probes on their way
}

type barrierStage uint8

const (
	unwritten barrierStage = iota
	counted                // the members are read, for a write that does so before its commit
	committed
	waits
	leaving // left_at is in its row, but not committed yet; only where that is two moments
	done
)

type barrier struct {
	stage  barrierStage
	waits  bool  // for the edge
	commit uint8 // the tick of it
}

// ask is a probe on its way. That it may have been sent earlier than its row
// was read would only make its lease older.
type ask struct {
	sent     uint8 // tick + 1; 0: none
	head     uint8
	admitted bool
}

// memberRules are the production code's decisions, and what is done in which
// order around them.
type memberRules struct {
	counts   func(m Membership, now time.Time) bool
	answered func(m Membership) bool
	outlast  func(bound time.Duration) time.Duration

	leavesLate   bool // left_at is taken some time before the row that carries it can be read
	membersFirst bool // a write reads the members before its commit
	headsFirst   bool // a probe's heads are read before the edge joins
}

func memberProduction() memberRules {
	return memberRules{
		counts:   func(m Membership, now time.Time) bool { return m.Counts(now, memberBound) },
		answered: Membership.Answered,
		outlast:  Outlast,
	}
}

func tickTime(tick uint8) time.Time { return time.Unix(int64(tick), 0) }

func (m *members) row() Membership {
	if m.left == 0 {
		return Membership{}
	}
	return Membership{LeftAt: tickTime(m.left - 1)}
}

// stale reports whether the edge may answer unmarked from before a write that
// was acknowledged: by the production code's floors, and by its lease.
func (m *members) stale(b *bench, k Entry) bool {
	acked := uint8(0)
	for i, w := range m.writes {
		if w.stage == done {
			acked = uint8(i) + firstHead + 1
		}
	}
	b.load(&node{epoch: 1, lease: m.leased, floors: [2]floors{{applied: m.applied, base: firstHead, changed: m.applied}}})
	v, _ := b.table.View(k.Key.Hash())
	for k.AsOf = firstHead; k.AsOf < uint64(acked); k.AsOf++ {
		k.Version = k.AsOf
		lasts := v.Lease != 0 && time.Duration(m.now-(m.leased-1))*time.Second <= memberBound
		if lasts && v.Fresh(&k) {
			return true
		}
	}
	return false
}

func (m members) successors(r memberRules, visit func(next members, did string)) {
	if m.now < lastTick {
		next := m
		next.now++
		visit(next, fmt.Sprintf("tick %d", next.now))
	}
	for i := range m.writes {
		m.write(r, i, visit)
	}
	for i := range m.asked {
		m.probe(r, i, visit)
	}
	if m.applied < m.head {
		next := m
		next.applied++
		visit(next, fmt.Sprintf("the edge applies position %d", next.applied))
	}
}

// write moves one write on: commit, members, acknowledgement or timeout.
func (m members) write(r memberRules, i int, visit func(next members, did string)) {
	name := fmt.Sprintf("write %d", i+1)
	w := m.writes[i]
	next := m
	to := &next.writes[i]
	switch w.stage {
	case unwritten:
		if i > 0 && m.writes[i-1].stage < committed {
			return // the row lock
		}
		if r.membersFirst {
			*to = barrier{stage: counted, waits: r.counts(m.row(), tickTime(m.now))}
			visit(next, fmt.Sprintf("%s reads the members; it will wait for the edge: %v", name, to.waits))
			return
		}
		*to = barrier{stage: committed, commit: m.now}
		next.head++
		visit(next, fmt.Sprintf("%s commits position %d", name, next.head))
	case counted:
		*to = barrier{stage: done}
		if w.waits {
			*to = barrier{stage: waits, commit: m.now}
		}
		next.head++
		visit(next, fmt.Sprintf("%s commits position %d", name, next.head))
	case committed:
		to.stage = done
		if r.counts(m.row(), tickTime(m.now)) {
			to.stage = waits
		}
		visit(next, fmt.Sprintf("%s reads the members; it waits for the edge: %v", name, to.stage == waits))
	case waits:
		*to = barrier{stage: done}
		if m.applied >= uint8(i)+firstHead+1 {
			visit(next, name+" hears from the edge: acknowledged")
		}
		if tickTime(m.now).Sub(tickTime(w.commit)) >= r.outlast(memberBound) {
			if r.leavesLate {
				*to = barrier{stage: leaving, commit: m.now}
				visit(next, name+" has waited long enough and takes the edge off")
				return
			}
			if m.left == 0 {
				next.left = m.now + 1
			}
			visit(next, name+" has waited long enough, the edge is taken off: acknowledged")
		}
	case leaving:
		*to = barrier{stage: done}
		next.left = w.commit + 1
		visit(next, "the edge is seen as taken off: "+name+" acknowledged")
	case done:
	}
}

// probe moves one probe on. An edge that left joins again first.
func (m members) probe(r memberRules, i int, visit func(next members, did string)) {
	a := m.asked[i]
	next := m
	to := &next.asked[i]
	name := fmt.Sprintf("probe %d", i+1)
	switch {
	case a.sent == 0 && !r.headsFirst && !r.answered(m.row()):
		next.left = 0
		visit(next, name+" makes the edge join again")
	case a.sent == 0:
		*to = ask{sent: m.now + 1, head: m.head, admitted: !r.headsFirst}
		visit(next, fmt.Sprintf("%s reads head %d", name, m.head))
	case !a.admitted:
		next.left = 0
		to.admitted = true
		visit(next, name+" finds its row, or makes the edge join again")
	case m.applied >= a.head:
		*to = ask{}
		next.leased = max(next.leased, a.sent)
		visit(next, fmt.Sprintf("%s's answer gives a lease from tick %d", name, a.sent-1))
	}
}

// settled makes states equal that differ only in what cannot matter any more:
// a lease that has run out, and the order of the probes.
func (m members) settled() members {
	if m.leased != 0 && time.Duration(m.now-(m.leased-1))*time.Second > memberBound {
		m.leased = 0
	}
	for i := range m.asked {
		if a := &m.asked[i]; a.sent != 0 && time.Duration(m.now-(a.sent-1))*time.Second > memberBound {
			*a = ask{}
		}
	}
	if m.asked[0].sent < m.asked[1].sent {
		m.asked[0], m.asked[1] = m.asked[1], m.asked[0]
	}
	return m
}

// exploreMembers returns the number of states and a shortest way to a stale
// answer, if there is one.
func exploreMembers(start members, r memberRules) (states int, trace []string) {
	table := NewTable(1, 1)
	k := key()
	b := newBench(table, shardOf(k), table.slot(k.Hash()))
	type step struct {
		from members
		did  string
	}
	came := map[members]step{start: {}}
	for layer := []members{start}; len(layer) > 0; {
		var following []members
		for _, m := range layer {
			if m.stale(b, Entry{Epoch: 1, Key: k, Body: Body{State: Enabled}}) {
				for at := m; at != start; at = came[at].from {
					trace = append([]string{came[at].did}, trace...)
				}
				return len(came), trace
			}
			m.successors(r, func(next members, did string) {
				next = next.settled()
				if _, ok := came[next]; !ok {
					came[next] = step{from: m, did: did}
					following = append(following, next)
				}
			})
		}
		layer = following
	}
	return len(came), nil
}

// joined is an edge that is a member and has applied everything.
func joined() members { return members{head: firstHead, applied: firstHead} }

// After a write is acknowledged no edge answers unmarked from before it, also
// one whose acknowledgements are lost while its probes are answered.
func TestBarrierModel(t *testing.T) {
	t.Parallel()
	states, trace := exploreMembers(joined(), memberProduction())
	if trace != nil {
		t.Fatalf("stale after an acknowledged write:\n%s", strings.Join(trace, "\n"))
	}
	t.Logf("%d states", states)
}

func TestBarrierModelFindsWhatBreaksWithoutARule(t *testing.T) {
	t.Parallel()
	gone := joined() // taken off at tick 0
	gone.left, gone.now = 1, 3
	silent := joined() // since a write of tick 0
	silent.now, silent.head, silent.writes[0] = 2, firstHead+1, barrier{stage: waits}
	for _, c := range []struct {
		name    string
		from    members
		without func(r *memberRules)
	}{
		{"left_at is forgotten at once", silent, func(r *memberRules) {
			r.counts = func(m Membership, _ time.Time) bool { return m.LeftAt.IsZero() }
		}},
		{"left_at is older than its commit", silent, func(r *memberRules) { r.leavesLate = true }},
		{"an edge that left is answered without joining", gone, func(r *memberRules) {
			r.answered = func(Membership) bool { return true }
		}},
		{"members are read before the commit", gone, func(r *memberRules) { r.membersFirst = true }},
		{"heads are read before the edge joins", gone, func(r *memberRules) { r.headsFirst = true }},
		{"a silent edge's lease is not waited for", joined(), func(r *memberRules) {
			r.outlast = func(time.Duration) time.Duration { return 0 }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := memberProduction()
			c.without(&r)
			states, trace := exploreMembers(c.from, r)
			if trace == nil {
				t.Fatalf("no fault in %d states", states)
			}
			t.Logf("after %d states:\n%s", states, strings.Join(trace, "\n"))
		})
	}
}
