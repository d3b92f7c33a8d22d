package clicks

import (
	"waypost/shared/click"
	"waypost/shared/pace"
)

// aggregate adds clicks up, in memory that it keeps from one stretch to the
// next. Not safe for concurrent use.
type aggregate struct {
	pace    *pace.Pace
	words   words
	index   map[uint64]int // link → its place in links
	links   []linkTally
	orphans map[int64]uint64 // by hour
	clicks  uint64
	emitted emitted
	encoder click.Encoder
	resets  int
	size    int // about what the stretch takes, in bytes, words apart
}

// linkTally are the clicks of one link.
type linkTally struct {
	link   uint64
	hours  []hourTally // in the order of their first click
	days   []dayTally
	newest []recent // a ring of the last ones
	oldest int      // of the ring, once it is full
}

// recent is a click that statistics may show.
type recent struct {
	at                int64
	referrer, country word
	device            click.Device
	browser           click.Browser
	os                click.OS
	bot               bool
}

// values are what the strings of a record say.
type values struct{ referrer, country, language word }

// What the parts of a stretch take on the wire, in bytes: a little more than
// most do.
const (
	sizeFixed  = 1024 // labels, offsets, the names that do not come from visitors
	sizeLink   = 12
	sizeHour   = 24
	sizePart   = 4
	sizeDay    = 3
	sizeRecent = 14
	sizeWord   = 1
	sizeHours  = 4 // of orphans
)

func newAggregate(p *pace.Pace) *aggregate {
	return &aggregate{
		pace: p, words: newWords(), index: make(map[uint64]int), orphans: make(map[int64]uint64), encoder: click.Encoder{Rest: p.Rest},
	}
}

// bytes is about what the stretch takes on the wire.
func (a *aggregate) bytes() int {
	return sizeFixed + a.size + a.words.bytes + sizeWord*len(a.words.known)
}

// add counts a click, of which the strings are in words.
func (a *aggregate) add(r *click.Record, in click.Words) {
	a.clicks++
	l := a.of(r.Link)
	hour := click.HourOf(r.At)
	v := values{a.words.of(in.Referrer), a.words.of(in.Country), a.words.of(in.Language)}
	a.size += sizePart * a.hour(l, hour).add(r, v)
	if r.Visitor != 0 {
		day := a.day(l, click.DayOf(hour))
		before := day.visitors.Size()
		day.visitors.Add(r.Visitor)
		a.size += day.visitors.Size() - before
	}
	c := recent{r.At, v.referrer, v.country, r.Device, r.Browser, r.OS, r.Bot}
	if len(l.newest) < click.MaxNewest {
		l.newest = append(l.newest, c)
		a.size += sizeRecent
		return
	}
	l.newest[l.oldest] = c
	l.oldest = (l.oldest + 1) % click.MaxNewest
}

func (a *aggregate) of(link uint64) *linkTally {
	if i, ok := a.index[link]; ok {
		return &a.links[i]
	}
	a.index[link] = len(a.links)
	a.size += sizeLink
	l := grow(&a.links)
	*l = linkTally{link: link, hours: l.hours[:0], days: l.days[:0], newest: l.newest[:0]}
	return l
}

// hour is the tally of an hour; nearly always it is the last one.
func (a *aggregate) hour(l *linkTally, hour int64) *hourTally {
	for i := len(l.hours) - 1; i >= 0; i-- {
		if l.hours[i].hour == hour {
			return &l.hours[i]
		}
	}
	a.size += sizeHour
	h := grow(&l.hours)
	h.reset(hour)
	return h
}

func (a *aggregate) day(l *linkTally, day int64) *dayTally {
	for i := len(l.days) - 1; i >= 0; i-- {
		if l.days[i].day == day {
			return &l.days[i]
		}
	}
	a.size += sizeDay
	d := grow(&l.days)
	d.reset(day)
	return d
}

// lost counts requests for codes that do not exist.
func (a *aggregate) lost(c click.HourCount) {
	if a.orphans[c.Hour] == 0 {
		a.size += sizeHours
	}
	a.orphans[c.Hour] += c.Count
}

// keepFor is for how many stretches memory is kept: each of them may have made
// another part of it large.
const keepFor = 128

// reset empties it and keeps its memory, for a while.
func (a *aggregate) reset() {
	if a.resets++; a.resets == keepFor {
		*a = *newAggregate(a.pace)
		return
	}
	a.words.reset()
	clear(a.index)
	clear(a.orphans)
	a.links, a.clicks, a.size = a.links[:0], 0, 0
	a.emitted.reset()
}

// grow makes the slice longer by an element, which keeps the memory that one in
// its place had before.
func grow[T any](s *[]T) *T {
	if len(*s) < cap(*s) {
		*s = (*s)[:len(*s)+1]
	} else {
		var zero T
		*s = append(*s, zero)
	}
	return &(*s)[len(*s)-1]
}
