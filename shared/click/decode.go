package click

import "fmt"

// ParseStretch reads what Append wrote, and refuses what is out of order, does
// not add up, or could be written in another way: a stretch that passes is one
// that may be applied. What it allocates is bounded by some 20 times the
// input's length, which must be at most MaxStretch. The error wraps ErrFormat.
func ParseStretch(b []byte) (*Stretch, error) {
	if len(b) > MaxStretch {
		return nil, fmt.Errorf("stretch of %d bytes: %w", len(b), ErrFormat)
	}
	d := decoder{reader: reader{b: b}}
	if d.u8() != format {
		return nil, fmt.Errorf("stretch of %d bytes: %w", len(b), ErrFormat)
	}
	s := &Stretch{Boot: d.string(MaxLabel), Region: d.string(MaxLabel), From: d.uvarint(), To: d.uvarint()}
	last := d.u8()
	s.Last = last == 1
	if s.Boot == "" || s.From > s.To || last > 1 || !isText(s.Boot) || !isText(s.Region) {
		d.fail()
	}
	d.region = s.Region
	d.table()
	s.Links = d.links()
	s.Orphans = d.orphans()
	d.check()
	if err := d.end(); err != nil {
		return nil, fmt.Errorf("stretch of %d bytes: %w", len(b), err)
	}
	return s, nil
}

// The fewest bytes that each element of a list takes.
const (
	minHour    = 3 + 3*Dimensions
	minLink    = 2 + minHour + 2
	minDay     = 1 + 2 + 8
	minRecent  = 2 + 5
	minOrphans = 2
)

// decoder reads one stretch.
type decoder struct {
	reader
	region string
	values []string
	used   []bool // a value that nothing refers to has no business in the table
}

// table reads the values: ascending, each once.
func (d *decoder) table() {
	n := d.size(1)
	d.values, d.used = make([]string, n), make([]bool, n)
	for i := range d.values {
		v := d.string(MaxReferrer)
		if i > 0 && v <= d.values[i-1] || !isText(v) {
			d.fail()
			return
		}
		d.values[i] = v
	}
}

// value reads a reference that stands so far behind another in the table.
func (d *decoder) value(before uint64) (string, uint64) {
	i := d.uvarint()
	if i += before; i < before || i >= uint64(len(d.values)) {
		d.fail()
		return "", 0
	}
	d.used[i] = true
	return d.values[i], i
}

func (d *decoder) check() {
	for _, used := range d.used {
		if !used {
			d.fail()
		}
	}
}

func (d *decoder) links() []LinkClicks {
	links := list[LinkClicks](d, minLink)
	before := uint64(0)
	for i := range links {
		l := &links[i]
		distance := d.uvarint()
		l.Link = before + distance
		if i > 0 && distance == 0 || l.Link < before {
			d.fail()
			return nil
		}
		before = l.Link
		l.Hours, l.Days, l.Newest = d.hours(), d.days(), d.newest()
		if len(l.Hours) == 0 {
			d.fail()
			return nil
		}
	}
	return links
}

func (d *decoder) hours() []Hour {
	hours := list[Hour](d, minHour)
	for i := range hours {
		h := &hours[i]
		h.Hour = d.after(i, hourBefore(hours, i))
		h.Clicks, h.Bots = d.count(), d.count()
		if h.Clicks == 0 || h.Bots > h.Clicks {
			d.fail()
			return nil
		}
		h.Parts = d.parts(h.Clicks)
	}
	return hours
}

func hourBefore(hours []Hour, i int) int64 {
	if i == 0 {
		return 0
	}
	return hours[i-1].Hour
}

// parts reads the parts of an hour; those of each dimension must add up to its
// clicks.
func (d *decoder) parts(clicks uint64) []Part {
	parts := make([]Part, 0, Dimensions)
	for dimension := range Dimension(Dimensions) {
		n := d.size(2)
		sum, before := uint64(0), uint64(0)
		for i := range n {
			p := Part{Dimension: dimension}
			at := before
			p.Value, before = d.value(before)
			p.Clicks = d.count()
			if p.Clicks == 0 || i > 0 && at == before {
				d.fail()
				return nil
			}
			sum += p.Clicks
			parts = append(parts, p)
		}
		if sum != clicks {
			d.fail()
			return nil
		}
	}
	return parts
}

func (d *decoder) days() []Day {
	days := list[Day](d, minDay)
	for i := range days {
		var before int64
		if i > 0 {
			before = days[i-1].Day
		}
		days[i] = Day{Day: d.after(i, before), Visitors: d.sketch()}
		if days[i].Visitors.empty() {
			d.fail()
			return nil
		}
	}
	return days
}

func (d *decoder) newest() []Recent {
	newest := list[Recent](d, minRecent)
	if len(newest) > MaxNewest {
		d.fail()
		return nil
	}
	before := uint64(maxAt)
	for i := range newest {
		c := &newest[i]
		older := d.uvarint()
		flags := d.u8()
		if older > before || flags > flagBot {
			d.fail()
			return nil
		}
		before -= older
		c.At, c.Region, c.Bot = int64(before), d.region, flags == flagBot //nolint:gosec // below 2^56
		for _, v := range [...]*string{&c.Referrer, &c.Device, &c.Browser, &c.OS, &c.Country} {
			*v, _ = d.value(0)
		}
	}
	return newest
}

func (d *decoder) orphans() []HourCount {
	orphans := list[HourCount](d, minOrphans)
	for i := range orphans {
		var before int64
		if i > 0 {
			before = orphans[i-1].Hour
		}
		orphans[i] = HourCount{Hour: d.after(i, before), Count: d.count()}
		if orphans[i].Count == 0 {
			d.fail()
			return nil
		}
	}
	return orphans
}

// after reads an hour or a day that comes after the one before, if this is not
// the first.
func (d *decoder) after(i int, before int64) int64 {
	v := d.hour(before)
	if i > 0 && v == before {
		d.fail()
	}
	return v
}

// list makes room for as many elements as the input says it has, nil for none.
func list[T any](d *decoder, each int) []T {
	n := d.size(each)
	if n == 0 {
		return nil
	}
	return make([]T, n)
}
