package postgres

import (
	"waypost/shared/click"
)

// count is a stretch on its way into the tables: what it adds to rows, and, for
// those that are written as a whole, what will be in them once they were read.
// All lists ascend as their keys do.
type count struct {
	links   []linkTally
	days    []dayTally
	hours   []hourTally
	orphans []click.HourCount

	window  window
	moved   uint64      // clicks that were not within the window
	damaged []damaged   // what could not be read
	unread  []*dayTally // days whose parts could not be

	dayAt  map[linkTime]*dayTally
	hourAt map[linkTime]*hourTally
	linkAt map[int64]*linkTally
}

// linkTime names the row of a link and a day, or hour, since 1970.
type linkTime struct{ link, at int64 }

// linkTally is what is added to a link's row, and its newest clicks.
type linkTally struct {
	link         int64
	clicks, bots uint64
	newest       []click.Recent
}

// hourTally is a row of click_hour.
type hourTally struct {
	key linkTime
	tally
}

// dayTally is what is added to a row of click_day, a row of click_detail, and
// what is to be written of click_visitors.
type dayTally struct {
	key      linkTime
	tally    // the parts alone are all of the day's
	recent   click.Sketch
	visitors *click.Sketch // nil: stays as it is
}

// newCount sorts out what a stretch adds, for the known links alone, within a
// window.
func newCount(st *click.Stretch, known map[int64]bool, w window) *count {
	c := &count{window: w, orphans: w.orphans(st.Orphans)}
	for i := range st.Links {
		l := &st.Links[i]
		if id := signed(l.Link); known[id] {
			c.take(id, l)
		}
	}
	c.index()
	return c
}

func (c *count) take(id int64, l *click.LinkClicks) {
	sum := linkTally{link: id, newest: c.window.recents(l.Newest)}
	first := len(c.days)
	for j := range l.Hours {
		h := &l.Hours[j]
		sum.clicks += h.Clicks
		sum.bots += h.Bots
		hour := c.window.hour(h.Hour)
		if hour != h.Hour {
			c.moved += h.Clicks
		}
		c.takeHour(linkTime{id, hour}, h)
		d := linkTime{id, click.DayOf(hour)}
		if len(c.days) == first || c.days[len(c.days)-1].key != d {
			c.days = append(c.days, dayTally{key: d})
		}
		c.days[len(c.days)-1].add(h.Clicks, h.Bots, h.Parts)
	}
	for j := range l.Days {
		for k := first; k < len(c.days); k++ {
			// Visitors are of clicks: a day without any is none of theirs.
			if c.days[k].key.at == c.window.day(l.Days[j].Day) {
				c.days[k].recent.Merge(&l.Days[j].Visitors) // not assigned: the stretch stays as it is
			}
		}
	}
	c.links = append(c.links, sum)
}

// takeHour adds to the row of an hour, if those are kept: to the one before where
// both were moved to the same.
func (c *count) takeHour(key linkTime, h *click.Hour) {
	if key.at < c.window.kept {
		return
	}
	if n := len(c.hours); n == 0 || c.hours[n-1].key != key {
		c.hours = append(c.hours, hourTally{key: key})
	}
	c.hours[len(c.hours)-1].add(h.Clicks, h.Bots, h.Parts)
}

// index finds rows by their keys, once the lists do not grow any more.
func (c *count) index() {
	c.linkAt = make(map[int64]*linkTally, len(c.links))
	for i := range c.links {
		c.linkAt[c.links[i].link] = &c.links[i]
	}
	c.dayAt = make(map[linkTime]*dayTally, len(c.days))
	for i := range c.days {
		c.dayAt[c.days[i].key] = &c.days[i]
	}
	c.hourAt = make(map[linkTime]*hourTally, len(c.hours))
	for i := range c.hours {
		c.hourAt[c.hours[i].key] = &c.hours[i]
	}
}
