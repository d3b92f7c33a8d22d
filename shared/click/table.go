package click

import (
	"encoding/binary"
	"slices"
)

// table holds each value of a stretch once, sorted, and what refers to them in
// the order in which a stretch is written, so that each value is looked up once.
type table struct {
	values []string
	ids    map[string]uint32 // in the order of first use
	ranks  []uint64          // by id: index in values
	refs   []uint32          // ids
	read   int               // of refs
	last   [Dimensions]used  // spares a look-up where a value repeats
}

type used struct {
	value string
	id    uint32
	any   bool
}

// fill makes it a stretch's, with the memory that it had. rest is called between
// links.
func (t *table) fill(s *Stretch, rest func()) {
	n := 0
	for i := range s.Links {
		for j := range s.Links[i].Hours {
			n += len(s.Links[i].Hours[j].Parts)
		}
		n += len(s.Links[i].Newest) * recentValues
	}
	if t.ids == nil {
		t.ids = make(map[string]uint32)
	}
	clear(t.ids)
	t.refs, t.read, t.last = slices.Grow(t.refs[:0], n), 0, [Dimensions]used{}
	for i := range s.Links {
		l := &s.Links[i]
		for j := range l.Hours {
			for _, p := range l.Hours[j].Parts {
				t.refer(p.Dimension, p.Value)
			}
		}
		for j := range l.Newest {
			for d, v := range l.Newest[j].values() {
				t.refer(recentDimensions()[d], v)
			}
		}
		rest()
	}
	t.values = t.values[:0]
	for v := range t.ids {
		t.values = append(t.values, v)
	}
	slices.Sort(t.values)
	t.ranks = slices.Grow(t.ranks[:0], len(t.values))[:len(t.values)]
	for i, v := range t.values {
		t.ranks[t.ids[v]] = uint64(i)
	}
}

const recentValues = 5

// values are the strings of a click on the wire; its region is the stretch's.
func (c *Recent) values() [recentValues]string {
	return [...]string{c.Referrer, c.Device, c.Browser, c.OS, c.Country}
}

func recentDimensions() [recentValues]Dimension {
	return [...]Dimension{ByReferrer, ByDevice, ByBrowser, ByOS, ByCountry}
}

func (t *table) refer(d Dimension, value string) {
	last := &t.last[d]
	if !last.any || last.value != value {
		id, ok := t.ids[value]
		if !ok {
			id = uint32(len(t.ids)) //nolint:gosec // fewer than a stretch has bytes
			t.ids[value] = id
		}
		*last = used{value, id, true}
	}
	t.refs = append(t.refs, last.id)
}

// next is the index of the next value that is referred to.
func (t *table) next() uint64 {
	id := t.refs[t.read]
	t.read++
	return t.ranks[id]
}

func (t *table) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(t.values)))
	for _, v := range t.values {
		dst = appendString(dst, v)
	}
	return dst
}
