package clicks

import "waypost/shared/click"

// scan is how many values are looked through one by one before there is an
// index: most links have few.
const scan = 16

// tally counts values. The zero value is empty.
type tally struct {
	values []valueCount
	index  map[string]int // nil up to scan values
}

type valueCount struct {
	value  string
	clicks uint64
}

// add counts a value and says whether it is new.
func (t *tally) add(value string) bool {
	if t.index == nil {
		for i := range t.values {
			if t.values[i].value == value {
				t.values[i].clicks++
				return false
			}
		}
		t.values = append(t.values, valueCount{value, 1})
		if len(t.values) > scan {
			t.index = make(map[string]int, 4*scan)
			for i := range t.values {
				t.index[t.values[i].value] = i
			}
		}
		return true
	}
	if i, ok := t.index[value]; ok {
		t.values[i].clicks++
		return false
	}
	t.index[value] = len(t.values)
	t.values = append(t.values, valueCount{value, 1})
	return true
}

func (t *tally) reset() { *t = tally{values: t.values[:0]} }

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
func (h *hourTally) add(r *click.Record) (parts int) {
	h.clicks++
	if r.Bot {
		h.bots++
	}
	parts += first(&h.devices[r.Device]) + first(&h.browsers[r.Browser]) + first(&h.systems[r.OS])
	for _, v := range [...]struct {
		tally *tally
		value string
	}{{&h.referrers, r.Referrer}, {&h.countries, r.Country}, {&h.languages, r.Language}} {
		if v.tally.add(v.value) {
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
