package clicks

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"waypost/bench/load"
	"waypost/shared/click"
)

// Stretches makes what an edge sends of one boot's log, in which an offset is a click: all links as likely, every click
// another visitor's, 20 referring hosts, 8 languages, and 4 kinds of browsers. Not safe for concurrent use.
type Stretches struct {
	boot   string
	links  []uint64 // their ids, ascending
	random *rand.Rand
	end    uint64 // of the last stretch
}

// NewStretches begins a log. The same seed gives the same clicks.
func NewStretches(boot string, seed uint64, links []uint64) *Stretches {
	return &Stretches{boot: boot, links: links, random: rand.New(rand.NewPCG(seed, 7))} //nolint:gosec // a load, no secret
}

// Next is the log's next stretch, of so many clicks at a time, as bytes, and where it ends.
func (s *Stretches) Next(clicks int, at time.Time) (stretch []byte, to uint64) {
	const region = "eu"
	st := click.Stretch{Boot: s.boot, Region: region, From: s.end, To: s.end + uint64(clicks)} //nolint:gosec // a number of clicks
	s.end = st.To
	tallies := make([]tally, len(s.links))
	for range clicks {
		t := &tallies[s.random.IntN(len(tallies))]
		t.add(s.random, region, at.UnixMicro())
	}
	for i := range tallies {
		if t := &tallies[i]; t.clicks > 0 {
			st.Links = append(st.Links, t.of(s.links[i], at.UnixMicro()))
		}
	}
	return st.Append(nil), st.To
}

// tally adds up the clicks of one link at one time.
type tally struct {
	clicks   uint64
	parts    map[click.Part]uint64
	visitors click.Sketch
	newest   []click.Recent
}

func (t *tally) add(random *rand.Rand, region string, at int64) {
	if t.parts == nil {
		t.parts = make(map[click.Part]uint64)
	}
	t.clicks++
	kind := random.IntN(4)
	accept := load.Languages()[random.IntN(len(load.Languages()))]
	language, _, _ := strings.Cut(strings.ToLower(accept), ",")
	r := click.Recent{
		At: at, Region: region, Referrer: fmt.Sprintf("site-%d.example", random.IntN(20)), Country: []string{"DE", "FR", "US", "BR"}[kind],
		Device:  []string{"desktop", "mobile", "mobile", "desktop"}[kind],
		Browser: []string{"chrome", "chrome", "safari", "firefox"}[kind],
		OS:      []string{"windows", "android", "ios", "linux"}[kind],
	}
	for dimension, value := range map[click.Dimension]string{
		click.ByRegion: region, click.ByReferrer: r.Referrer, click.ByCountry: r.Country, click.ByLanguage: language,
		click.ByDevice: r.Device, click.ByBrowser: r.Browser, click.ByOS: r.OS,
	} {
		t.parts[click.Part{Dimension: dimension, Value: value}]++
	}
	t.visitors.Add(max(random.Uint64(), 1))
	if len(t.newest) < click.MaxNewest {
		t.newest = append(t.newest, r)
	}
}

// of is the tally as a link's, all at one time.
func (t *tally) of(link uint64, at int64) click.LinkClicks {
	hour := click.Hour{Hour: click.HourOf(at), Clicks: t.clicks}
	for _, p := range slices.SortedFunc(maps.Keys(t.parts), func(a, b click.Part) int {
		return cmp.Or(cmp.Compare(a.Dimension, b.Dimension), cmp.Compare(a.Value, b.Value))
	}) {
		p.Clicks = t.parts[p]
		hour.Parts = append(hour.Parts, p)
	}
	return click.LinkClicks{
		Link: link, Hours: []click.Hour{hour}, Days: []click.Day{{Day: click.DayOf(hour.Hour), Visitors: t.visitors}}, Newest: t.newest,
	}
}
