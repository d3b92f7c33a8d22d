package redirects

import "bytes"

// The tiers that an edge says its answers are from, in the order of Tiers.
const (
	FromL1 = iota
	FromL2
	FromFilter
	FromOrigin
	FromNone // it says nothing, or what is none of these
)

// Tiers are their names, the classes of a load that tells them apart.
func Tiers() []string { return []string{"l1", "l2", "filter", "origin", "none"} }

// TierOf is the tier of the answer with this head, as Cache-Status has it.
func TierOf(head []byte) int {
	_, detail, ok := bytes.Cut(head, []byte("detail="))
	if !ok {
		return FromNone
	}
	for i, name := range Tiers() {
		if bytes.HasPrefix(detail, []byte(name)) {
			return i
		}
	}
	return FromNone
}
