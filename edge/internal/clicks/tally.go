package clicks

import (
	"math/bits"
	"slices"

	"waypost/shared/click"
)

// scan is how many values are looked through one by one before there is an
// index: most links have few.
const scan = 16

// tally counts words. The zero value is empty.
type tally struct {
	values []valueCount
	places []uint32 // by a value's hash and then one after the other: 1 + its index in values; empty up to scan values
}

type valueCount struct {
	value  word
	clicks uint64
}

// add counts a value and says whether it is new.
func (t *tally) add(value word) bool {
	if len(t.places) > 0 {
		place := t.place(value)
		if *place > 0 {
			t.values[*place-1].clicks++
			return false
		}
		t.values = append(t.values, valueCount{value, 1})
		*place = uint32(len(t.values)) //nolint:gosec // fewer than there are words
	} else {
		for i := range t.values {
			if t.values[i].value == value {
				t.values[i].clicks++
				return false
			}
		}
		t.values = append(t.values, valueCount{value, 1})
	}
	if len(t.values) > scan && 2*len(t.values) > len(t.places) {
		t.index(4 * len(t.values))
	}
	return true
}

// place is where a value's place is, or would be.
func (t *tally) place(value word) *uint32 {
	const golden = 0x9e3779b1         // words that follow each other are far apart (Knuth)
	mask := uint32(len(t.places) - 1) //nolint:gosec // a power of two
	for at := uint32(value) * golden >> 7; ; at++ {
		place := &t.places[at&mask]
		if *place == 0 || t.values[*place-1].value == value {
			return place
		}
	}
}

// index makes at least so many places.
func (t *tally) index(least int) {
	n := 1 << bits.Len(uint(least-1))
	t.places = slices.Grow(t.places[:0], n)[:n]
	clear(t.places)
	for i := range t.values {
		*t.place(t.values[i].value) = uint32(i + 1)
	}
}

// reset empties it and keeps its memory.
func (t *tally) reset() { *t = tally{values: t.values[:0], places: t.places[:0]} }

// hourTally are a link's clicks of one hour.
type hourTally struct {
	hour         int64
	clicks, bots uint64
	devices      [click.Devices]uint64
	browsers     [click.Browsers]uint64
	systems      [click.Systems]uint64
	referrers    tally
	countries    tally
	languages    tally
}

// add counts a click and returns how many parts it added to the hour.
func (h *hourTally) add(r *click.Record, v values) (parts int) {
	h.clicks++
	if r.Bot {
		h.bots++
	}
	parts += first(&h.devices[r.Device]) + first(&h.browsers[r.Browser]) + first(&h.systems[r.OS])
	for _, counted := range [...]bool{h.referrers.add(v.referrer), h.countries.add(v.country), h.languages.add(v.language)} {
		if counted {
			parts++
		}
	}
	return parts
}

// first counts and returns 1 for the first time.
func first(n *uint64) int {
	if *n++; *n == 1 {
		return 1
	}
	return 0
}

// reset makes it the tally of an hour, with the memory that it had.
func (h *hourTally) reset(hour int64) {
	referrers, countries, languages := h.referrers, h.countries, h.languages
	referrers.reset()
	countries.reset()
	languages.reset()
	*h = hourTally{hour: hour, referrers: referrers, countries: countries, languages: languages}
}

// dayTally are a link's visitors of one day.
type dayTally struct {
	day      int64
	visitors click.Sketch
}

func (d *dayTally) reset(day int64) {
	d.day = day
	d.visitors.Reset()
}
