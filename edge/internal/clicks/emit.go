package clicks

import (
	"cmp"
	"maps"
	"slices"

	"waypost/shared/click"
)

// emitted is the memory of a stretch that was made of an aggregate, kept for the
// next one.
type emitted struct {
	order  []int32
	links  []click.LinkClicks
	hours  []click.Hour
	parts  []click.Part
	days   []click.Day
	newest []click.Recent
}

func (e *emitted) reset() {
	*e = emitted{e.order[:0], e.links[:0], e.hours[:0], e.parts[:0], e.days[:0], e.newest[:0]}
}

// stretch is what was added up, for the caller to put boot and offsets to. It
// shares the aggregate's memory until the next reset.
func (a *aggregate) stretch(region string) *click.Stretch {
	out := &a.emitted
	for _, i := range a.order() {
		l := a.links[i].clicks(out, &a.words, region)
		l.Bound()
		out.links = append(out.links, l)
		a.pace.Rest()
	}
	s := &click.Stretch{Region: region, Links: out.links}
	for _, hour := range slices.Sorted(maps.Keys(a.orphans)) {
		s.Orphans = append(s.Orphans, click.HourCount{Hour: hour, Count: a.orphans[hour]})
	}
	return s
}

// order are the places of the links, by link.
func (a *aggregate) order() []int32 {
	order := a.emitted.order[:0]
	for i := range a.links {
		order = append(order, int32(i))
	}
	slices.SortFunc(order, func(x, y int32) int {
		a.pace.Rest() // there may be a hundred thousand
		return cmp.Compare(a.links[x].link, a.links[y].link)
	})
	a.emitted.order = order
	return order
}

func (l *linkTally) clicks(out *emitted, w *words, region string) click.LinkClicks {
	c := click.LinkClicks{Link: l.link, Hours: room(&out.hours, len(l.hours)), Days: room(&out.days, len(l.days))}
	for i := range l.hours {
		h := &l.hours[i]
		c.Hours = append(c.Hours, click.Hour{Hour: h.hour, Clicks: h.clicks, Bots: h.bots, Parts: h.parts(out, w, region)})
	}
	slices.SortFunc(c.Hours, func(a, b click.Hour) int { return cmp.Compare(a.Hour, b.Hour) })
	for i := range l.days {
		c.Days = append(c.Days, click.Day{Day: l.days[i].day, Visitors: l.days[i].visitors})
	}
	slices.SortFunc(c.Days, func(a, b click.Day) int { return cmp.Compare(a.Day, b.Day) })
	c.Newest = l.clicksOneByOne(room(&out.newest, len(l.newest)), w, region)
	return c
}

func (l *linkTally) clicksOneByOne(newest []click.Recent, w *words, region string) []click.Recent {
	for i := range l.newest {
		r := &l.newest[(l.oldest+len(l.newest)-1-i)%len(l.newest)]
		newest = append(newest, click.Recent{
			At: r.at, Region: region, Referrer: w.text(r.referrer), Country: w.text(r.country),
			Device: r.device.String(), Browser: r.browser.String(), OS: r.os.String(), Bot: r.bot,
		})
	}
	older := func(a, b click.Recent) int { return cmp.Compare(b.At, a.At) }
	if !slices.IsSortedFunc(newest, older) { // records stand in a log nearly as they happened
		slices.SortStableFunc(newest, older)
	}
	return newest
}

func (h *hourTally) parts(out *emitted, w *words, region string) []click.Part {
	most := 1 + click.Devices + click.Browsers + click.Systems +
		len(h.referrers.values) + len(h.countries.values) + len(h.languages.values)
	p := append(room(&out.parts, most), click.Part{Dimension: click.ByRegion, Value: region, Clicks: h.clicks})
	p = h.referrers.parts(p, w, click.ByReferrer)
	p = h.countries.parts(p, w, click.ByCountry)
	p = h.languages.parts(p, w, click.ByLanguage)
	p = classParts[click.Device](p, click.ByDevice, h.devices[:])
	p = classParts[click.Browser](p, click.ByBrowser, h.browsers[:])
	return classParts[click.OS](p, click.ByOS, h.systems[:])
}

func (t *tally) parts(p []click.Part, w *words, d click.Dimension) []click.Part {
	from := len(p)
	for _, v := range t.values {
		p = append(p, click.Part{Dimension: d, Value: w.text(v.value), Clicks: v.clicks})
	}
	sortValues(p[from:])
	return p
}

// class is a device, browser or operating system.
type class interface {
	~uint8
	String() string
}

func classParts[C class](p []click.Part, d click.Dimension, counts []uint64) []click.Part {
	from := len(p)
	value := C(0)
	for _, n := range counts {
		if n > 0 {
			p = append(p, click.Part{Dimension: d, Value: value.String(), Clicks: n})
		}
		value++
	}
	sortValues(p[from:])
	return p
}

func sortValues(p []click.Part) {
	slices.SortFunc(p, func(a, b click.Part) int { return cmp.Compare(a.Value, b.Value) })
}

// room takes an empty slice for so many elements off the memory that is kept.
func room[T any](kept *[]T, n int) []T {
	from := len(*kept)
	if cap(*kept)-from < n {
		*kept = make([]T, 0, max(2*cap(*kept), n)) // what was handed out stays where it is
		from = 0
	}
	*kept = (*kept)[:from+n]
	return (*kept)[from : from : from+n]
}
