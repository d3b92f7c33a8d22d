package positions

import "waypost/bench/fleet"

// Tiers counts answers by where they came from, as their Cache-Status says: l1, l2, filter, origin, or stale for a
// marked one.
type Tiers map[string]int

// add adds up.
func (t Tiers) add(others ...Tiers) {
	for _, other := range others {
		for tier, n := range other {
			t[tier] += n
		}
	}
}

// count takes one answer.
func (t Tiers) count(r fleet.Reply) { t[r.Tier()]++ }

// Answers counts all of them.
func (t Tiers) Answers() (n int) {
	for _, of := range t {
		n += of
	}
	return n
}

// Share is a tier's part of the answers of some tiers, in percent; of all where none is named.
func (t Tiers) Share(tier string, of ...string) float64 {
	all := t.Answers()
	if len(of) > 0 {
		all = 0
		for _, one := range of {
			all += t[one]
		}
	}
	if all == 0 {
		return 0
	}
	return 100 * float64(t[tier]) / float64(all)
}
