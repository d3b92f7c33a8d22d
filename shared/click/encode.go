package click

import (
	"encoding/binary"
	"slices"
)

// Append appends the stretch's bytes.
func (s *Stretch) Append(dst []byte) []byte { return new(Encoder).Append(dst, s) }

// Encoder makes bytes of stretches, in memory that it keeps from one to the next.
// Rest, unless nil, is called between links, of which a stretch may have many.
// The zero value is ready. Not safe for concurrent use.
type Encoder struct {
	Rest func()

	table table
}

func (e *Encoder) rest() {
	if e.Rest != nil {
		e.Rest()
	}
}

// Append appends a stretch's bytes. Values stand once, sorted, in a table in
// front; what refers to them is a distance in that table.
func (e *Encoder) Append(dst []byte, s *Stretch) []byte {
	t := &e.table
	t.fill(s, e.rest)
	dst = slices.Grow(dst, s.size(len(t.refs)))
	var last byte
	if s.Last {
		last = 1
	}
	dst = append(dst, format)
	dst = appendString(dst, s.Boot)
	dst = appendString(dst, s.Region)
	dst = binary.AppendUvarint(dst, s.From)
	dst = binary.AppendUvarint(dst, s.To)
	dst = append(dst, last)
	dst = t.append(dst)
	dst = binary.AppendUvarint(dst, uint64(len(s.Links)))
	before := uint64(0)
	for i := range s.Links {
		dst = binary.AppendUvarint(dst, s.Links[i].Link-before)
		before = s.Links[i].Link
		dst = s.Links[i].append(dst, t)
		e.rest()
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.Orphans)))
	hour := int64(0)
	for _, o := range s.Orphans {
		dst = appendHour(dst, o.Hour, &hour)
		dst = binary.AppendUvarint(dst, o.Count)
	}
	return dst
}

// size is about how many bytes Append appends, of a stretch that refers to values
// so many times.
func (s *Stretch) size(refs int) int {
	const perRef, perLink, fixed = 4, 32, 4096
	size := fixed + perRef*refs + perLink*len(s.Links)
	for i := range s.Links {
		for j := range s.Links[i].Days {
			size += s.Links[i].Days[j].Visitors.Size()
		}
	}
	return size
}

func (l *LinkClicks) append(dst []byte, t *table) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(l.Hours)))
	hour := int64(0)
	for i := range l.Hours {
		h := &l.Hours[i]
		dst = appendHour(dst, h.Hour, &hour)
		dst = binary.AppendUvarint(dst, h.Clicks)
		dst = binary.AppendUvarint(dst, h.Bots)
		dst = appendParts(dst, h.Parts, t)
	}
	dst = binary.AppendUvarint(dst, uint64(len(l.Days)))
	day := int64(0)
	for i := range l.Days {
		dst = appendHour(dst, l.Days[i].Day, &day)
		dst = l.Days[i].Visitors.Append(dst)
	}
	dst = binary.AppendUvarint(dst, uint64(len(l.Newest)))
	at := int64(maxAt)
	for i := range l.Newest {
		dst = l.Newest[i].append(dst, at, t)
		at = l.Newest[i].At
	}
	return dst
}

// append writes how much older than the click before it this one is.
func (c *Recent) append(dst []byte, before int64, t *table) []byte {
	var flags byte
	if c.Bot {
		flags = flagBot
	}
	dst = binary.AppendUvarint(dst, uint64(max(before-c.At, 0)))
	dst = append(dst, flags)
	for range c.values() {
		dst = binary.AppendUvarint(dst, t.next())
	}
	return dst
}

// appendParts writes for each dimension the number of its parts, then each
// part's distance in the table from the one before.
func appendParts(dst []byte, parts []Part, t *table) []byte {
	for d := range Dimension(Dimensions) {
		n := 0
		for n < len(parts) && parts[n].Dimension == d {
			n++
		}
		dst = binary.AppendUvarint(dst, uint64(n))
		before := uint64(0)
		for _, p := range parts[:n] {
			at := t.next()
			dst = binary.AppendUvarint(dst, at-before)
			dst = binary.AppendUvarint(dst, p.Clicks)
			before = at
		}
		parts = parts[n:]
	}
	return dst
}

func appendHour(dst []byte, hour int64, before *int64) []byte {
	dst = binary.AppendUvarint(dst, uint64(max(hour-*before, 0)))
	*before = hour
	return dst
}
