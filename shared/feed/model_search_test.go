package feed

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
)

// search visits every state of a world, nearest first, until one step breaks a
// check: the trace to it is a shortest one.
type search struct {
	*explorer
	seed  maphash.Seed
	seen  map[uint64]struct{} // by hash: that two of a few million collide is one in 10^6
	came  []came              // by number, in the order they were found
	fault string
	trace []string
}

// came is how a state was reached.
type came struct {
	from uint32
	did  move
}

type numbered struct {
	node   node
	number uint32
}

func explore(w world, s steps) *search {
	se := &search{
		explorer: newExplorer(w, s), seed: maphash.MakeSeed(),
		seen: make(map[uint64]struct{}), came: make([]came, 1),
	}
	var start node
	se.seen[maphash.Comparable(se.seed, start)] = struct{}{}
	layer := []numbered{{}}
	for len(layer) > 0 && se.fault == "" {
		var following []numbered
		for i := range layer {
			at := layer[i]
			se.visit = func(next *node, did move, fault string) {
				if se.fault != "" {
					return
				}
				if fault != "" {
					se.came = append(se.came, came{from: at.number, did: did})
					se.fault = fault
					return
				}
				hash := maphash.Comparable(se.seed, *next)
				if _, ok := se.seen[hash]; ok {
					return
				}
				se.seen[hash] = struct{}{}
				se.came = append(se.came, came{from: at.number, did: did})
				following = append(following, numbered{node: *next, number: uint32(len(se.came) - 1)})
			}
			se.successors(&at.node)
			if se.fault != "" {
				break
			}
		}
		layer = following
	}
	if se.fault != "" {
		se.explain()
	}
	return se
}

// explain walks the way to the fault once more and writes it down.
func (se *search) explain() {
	var moves []move
	for i := uint32(len(se.came) - 1); i != 0; i = se.came[i].from {
		moves = append(moves, se.came[i].did)
	}
	var at node
	for i, did := range slices.Backward(moves) {
		var to *node
		se.visit = func(next *node, made move, fault string) {
			if made == did && to == nil && (i > 0 || fault == se.fault) {
				n := *next
				to = &n
			}
		}
		se.successors(&at)
		se.trace = append(se.trace, fmt.Sprintf("%2d. %s", len(se.trace)+1, se.describe(to, did)))
		at = *to
	}
}

func (se *search) describe(to *node, did move) string {
	h := se.all[to.history]
	edge := " [" + to.String() + "]"
	switch did.kind {
	case commits:
		return "committed at time " + fmt.Sprint(did.a) + ": " + h.describe(int(did.a))
	case adopts:
		return fmt.Sprintf("the edge adopts epoch %d", did.a) + edge
	case resets:
		return fmt.Sprintf("the edge resets to epoch %d, position %d", did.a, did.b) + edge
	case answers:
		return fmt.Sprintf("the probe sent at time %d is answered with %v as the head", did.a, rank(did.b)) + edge
	case applies:
		return fmt.Sprintf("the edge applies (%s): %s", h.describe(int(did.a)), se.apply[did.b].name) + edge
	case stores:
		return "the edge goes on with the reset: " + se.within[did.b].name + edge
	case loads:
		r := &to.readers[did.a]
		return fmt.Sprintf("request %d: %s (lease %s, base %d, changed %d, created %d)",
			did.a+1, se.steps.load[did.b].name, leaseText(r.lease), r.base, r.changed, r.created)
	case sends:
		return fmt.Sprintf("request %d sends a fill with min_seq %d", did.a+1, did.b)
	case copies:
		return "the edge saves: " + se.copy[did.a].name
	case restartsWarm:
		return "the edge is restarted with its file" + edge
	case restartsCold:
		return "the edge is restarted without a file"
	case ends:
		return "the fill on its way ends"
	case refusesFill:
		return fmt.Sprintf("request %d joins that fill and is brought A as of position %d", did.a+1, h.moments[did.b].head)
	case readsL1, readsL2, readsFilter, readsFill:
	}
	where := map[moveKind]string{readsL1: "L1", readsL2: "L2", readsFilter: "the filter", readsFill: "a fill"}[did.kind]
	mark := "marked"
	if did.a&unmarkedBit != 0 {
		mark = "unmarked"
	}
	m := &h.moments[did.b]
	return fmt.Sprintf("request %d answers from %s, %s: A %s as of position %d of epoch %d", did.a&^unmarkedBit+1,
		where, mark, [...]string{"has no row", "is live", "is deleted"}[m.a], m.head, m.epoch)
}

func (se *search) String() string { return se.fault + "\n" + strings.Join(se.trace, "\n") }
