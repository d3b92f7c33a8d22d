package postgres

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"waypost/shared/click"
)

// maxPartBytes bounds the values of one dimension of one row, in bytes: a
// thousand referrers of common length fit, a thousand that somebody made up to
// be long do not.
const maxPartBytes = 32 << 10

// packedFormat is the first byte of what is packed into a column.
const packedFormat = 1

// errPacked reports a column whose bytes this version cannot read, or that does
// not add up. A version that packs in another way must not do so before the last
// origin that cannot read it has gone: what it wrote would be taken for damage.
var errPacked = errors.New("packed column is damaged or of a newer version")

// tally is a number of clicks and what they divide into.
type tally struct {
	clicks, bots uint64
	parts        []click.Part // ascending by dimension and value; those of a dimension add up to clicks
}

// add counts what another tally has.
func (t *tally) add(clicks, bots uint64, parts []click.Part) {
	t.clicks += clicks
	t.bots += bots
	t.parts = mergeParts(t.parts, parts)
}

// mergeParts adds up two lists of ascending parts. The result may share the
// memory of a list that the other one adds nothing to.
func mergeParts(a, b []click.Part) []click.Part {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	sum := make([]click.Part, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch order := compareParts(a[0], b[0]); {
		case order < 0:
			sum, a = append(sum, a[0]), a[1:]
		case order > 0:
			sum, b = append(sum, b[0]), b[1:]
		default:
			both := a[0]
			both.Clicks += b[0].Clicks
			sum, a, b = append(sum, both), a[1:], b[1:]
		}
	}
	return append(append(sum, a...), b...)
}

func compareParts(a, b click.Part) int {
	return cmp.Or(cmp.Compare(a.Dimension, b.Dimension), cmp.Compare(a.Value, b.Value))
}

// bounded is the tally with so many values of each dimension as a row may have,
// those with the most clicks; the rest is counted as click.Other. What was once
// counted so stays so.
func (t tally) bounded() tally {
	for from := 0; from < len(t.parts); {
		d := t.parts[from].Dimension
		to, values, size := from, 0, 0
		for ; to < len(t.parts) && t.parts[to].Dimension == d; to++ {
			if t.parts[to].Value != click.Other {
				values, size = values+1, size+len(t.parts[to].Value)
			}
		}
		if values > mostValues(d) || size > maxPartBytes {
			kept := keepMost(t.parts[from:to], mostValues(d))
			t.parts = slices.Concat(t.parts[:from], kept, t.parts[to:])
			to = from + len(kept)
		}
		from = to
	}
	return t
}

// mostValues is how many values of a dimension one row tells apart, besides
// click.Other.
func mostValues(d click.Dimension) int {
	if d == click.ByLanguage {
		return click.MaxLanguages
	}
	return click.MaxReferrers
}

// keepMost keeps the values with the most clicks of one dimension, as many as
// the bounds allow, and counts the others as one.
func keepMost(parts []click.Part, most int) []click.Part {
	byClicks := slices.Clone(parts)
	slices.SortFunc(byClicks, func(a, b click.Part) int {
		return cmp.Or(cmp.Compare(b.Clicks, a.Clicks), cmp.Compare(a.Value, b.Value))
	})
	rest := click.Part{Dimension: parts[0].Dimension, Value: click.Other}
	kept := make([]click.Part, 0, most+1)
	size := 0
	for _, p := range byClicks {
		if p.Value == click.Other || len(kept) == most || size+len(p.Value) > maxPartBytes {
			rest.Clicks += p.Clicks
			continue
		}
		kept, size = append(kept, p), size+len(p.Value)
	}
	if rest.Clicks > 0 {
		kept = append(kept, rest)
	}
	slices.SortFunc(kept, compareParts)
	return kept
}

// packParts makes of parts what a column holds: the format, then of each
// dimension, value and clicks.
func packParts(parts []click.Part) []byte {
	dst := []byte{packedFormat}
	for _, p := range parts {
		dst = append(dst, byte(p.Dimension))
		dst = packString(dst, p.Value)
		dst = binary.AppendUvarint(dst, p.Clicks)
	}
	return dst
}

// unpackParts reads what packParts wrote, and the clicks to which those of each
// dimension add up: at least one. The error is errPacked.
func unpackParts(b []byte) (parts []click.Part, clicks uint64, err error) {
	u := unpacker{s: string(b)}
	if u.byte() != packedFormat {
		return nil, 0, errPacked
	}
	var sums [click.Dimensions]uint64
	for u.s != "" {
		p := click.Part{Dimension: click.Dimension(u.byte()), Value: u.string(), Clicks: u.number()}
		if u.bad || int(p.Dimension) >= len(sums) || len(parts) > 0 && compareParts(parts[len(parts)-1], p) >= 0 {
			return nil, 0, errPacked
		}
		sums[p.Dimension] += p.Clicks
		parts = append(parts, p)
	}
	clicks = sums[0]
	if clicks == 0 || slices.ContainsFunc(sums[:], func(sum uint64) bool { return sum != clicks }) {
		return nil, 0, errPacked
	}
	return parts, clicks, nil
}

// partsOf are the parts of a row of so many clicks. If they cannot be read, or
// are of another number of clicks, they are not ok, and all clicks are of unknown
// ones.
func partsOf(packed []byte, clicks uint64) (parts []click.Part, ok bool) {
	parts, sum, err := unpackParts(packed)
	if err != nil || sum != clicks {
		return unknownParts(clicks), false
	}
	return parts, true
}

// unknownParts are clicks of which nothing but their number is known: in each
// dimension they count as click.Other, since "" says something of a referrer.
func unknownParts(clicks uint64) []click.Part {
	parts := make([]click.Part, click.Dimensions)
	for d := range parts {
		parts[d] = click.Part{Dimension: click.Dimension(d), Value: click.Other, Clicks: clicks}
	}
	return parts
}
