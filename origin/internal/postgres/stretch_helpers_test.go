package postgres_test

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"time"

	"waypost/origin/internal/clicks"
	"waypost/origin/internal/postgres"
	"waypost/shared/click"
)

// visit is one click for a stretch to be made of.
type visit struct {
	link     int64
	at       time.Time
	visitor  uint64
	referrer string
	country  string
	bot      bool
}

// log is one run of an edge: what it sends begins where the last one ended.
type log struct {
	boot, region string
	at           uint64
}

// stretch adds up visits; an offset of the log is one visit.
func (l *log) stretch(visits ...visit) *click.Stretch {
	st := &click.Stretch{Boot: l.boot, Region: l.region, From: l.at, To: l.at + uint64(len(visits))}
	l.at = st.To
	byLink := make(map[int64][]visit)
	for _, v := range visits {
		byLink[v.link] = append(byLink[v.link], v)
	}
	for _, id := range slices.Sorted(maps.Keys(byLink)) {
		st.Links = append(st.Links, linkClicks(id, l.region, byLink[id]))
	}
	return st
}

func linkClicks(id int64, region string, visits []visit) click.LinkClicks {
	lc := click.LinkClicks{Link: uint64(id)}
	hours := make(map[int64]*click.Hour)
	days := make(map[int64]*click.Day)
	parts := make(map[int64]map[click.Part]uint64)
	for _, v := range visits {
		hour := click.HourOf(v.at.UnixMicro())
		if hours[hour] == nil {
			hours[hour], parts[hour] = &click.Hour{Hour: hour}, make(map[click.Part]uint64)
		}
		hours[hour].Clicks++
		if v.bot {
			hours[hour].Bots++
		}
		for d, value := range []string{region, v.referrer, v.country, "en", "mobile", "chrome", "android"} {
			parts[hour][click.Part{Dimension: click.Dimension(d), Value: value}]++
		}
		if v.visitor != 0 {
			day := click.DayOf(hour)
			if days[day] == nil {
				days[day] = &click.Day{Day: day}
			}
			days[day].Visitors.Add(v.visitor)
		}
		lc.Newest = append(lc.Newest, click.Recent{
			At: v.at.UnixMicro(), Region: region, Referrer: v.referrer, Country: v.country, Bot: v.bot,
			Device: "mobile", Browser: "chrome", OS: "android",
		})
	}
	for _, hour := range slices.Sorted(maps.Keys(hours)) {
		h := hours[hour]
		for p, n := range parts[hour] {
			p.Clicks = n
			h.Parts = append(h.Parts, p)
		}
		slices.SortFunc(h.Parts, func(a, b click.Part) int {
			return cmp.Or(cmp.Compare(a.Dimension, b.Dimension), cmp.Compare(a.Value, b.Value))
		})
		lc.Hours = append(lc.Hours, *h)
	}
	for _, day := range slices.Sorted(maps.Keys(days)) {
		lc.Days = append(lc.Days, *days[day])
	}
	slices.SortStableFunc(lc.Newest, func(a, b click.Recent) int { return cmp.Compare(b.At, a.At) })
	lc.Newest = lc.Newest[:min(len(lc.Newest), click.MaxNewest)]
	return lc
}

// wire is the stretch as the origin gets it.
func wire(tb testing.TB, st *click.Stretch) *click.Stretch {
	tb.Helper()
	got, err := click.ParseStretch(st.Append(nil))
	if err != nil {
		tb.Fatalf("ParseStretch: %v", err)
	}
	return got
}

// apply sends a stretch that is to be counted.
func apply(tb testing.TB, s *postgres.Store, st *click.Stretch) {
	tb.Helper()
	mark, applied, err := s.ApplyStretch(tb.Context(), wire(tb, st))
	if err != nil || !applied || mark != st.To {
		tb.Fatalf("ApplyStretch %s [%d, %d): mark %d, applied %v, %v, want it applied", st.Boot, st.From, st.To, mark, applied, err)
	}
}

// newLinks makes n links, of ten owners, and returns their ids, ascending.
func newLinks(tb testing.TB, url string, n int) []int64 {
	tb.Helper()
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(1_000_000 + i)
	}
	exec(tb, url, `INSERT INTO links (link_id, domain, code, shard, version, generated, target, target_hash, status, enabled,
			owner, title, tags, query, suffix, class, clicks, expired_url, max_clicks, created_at, updated_at)
		SELECT id, '', 'k' || id, id % 64, 1, true, 'https://a.example/', 0, 302, true,
			'owner' || id % 10, '', '{}', 'off', 'off', 'available', true, '', 0, clock_timestamp(), clock_timestamp()
		FROM unnest($1::bigint[]) id`, ids)
	return ids
}

// hash spreads small numbers as the hashes of visitors are.
func hash(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// noon is one of a day that is days from today; today, as long as it is not noon
// yet, the hour that it is.
func noon(days int) time.Time {
	noon := today().AddDate(0, 0, days).Add(12 * time.Hour)
	if now := time.Now().UTC().Truncate(time.Hour); days == 0 && now.Before(noon) {
		return now
	}
	return noon
}

// many are n clicks of a link at one time, of different visitors.
func many(link int64, at time.Time, n int) []visit {
	visits := make([]visit, n)
	for i := range visits {
		visits[i] = visit{link: link, at: at, visitor: hash(uint64(i)), referrer: "a.example", country: "DE"}
	}
	return visits
}

// lately are whole days around today, for Stats.
func lately(before, after int) clicks.Query {
	return clicks.Query{
		Range: clicks.Range{From: today().AddDate(0, 0, -before), To: today().AddDate(0, 0, after)},
		Day:   today(), Today: today(),
	}
}

func stats(tb testing.TB, s *postgres.Store, id int64, q clicks.Query) clicks.Stats {
	tb.Helper()
	st, err := s.Stats(tb.Context(), id, q)
	if err != nil {
		tb.Fatalf("Stats of link %d: %v", id, err)
	}
	return st
}

// total is all that is counted of a link, which all ways to read it must agree
// on.
func total(tb testing.TB, s *postgres.Store, url string, id int64) uint64 {
	tb.Helper()
	st := stats(tb, s, id, lately(500, 500))
	sum := st.Total()
	byDimension := make(map[click.Dimension]uint64)
	for _, p := range st.Parts {
		byDimension[p.Dimension] += p.Clicks
	}
	for d := range click.Dimension(click.Dimensions) {
		if byDimension[d] != sum.Clicks {
			tb.Errorf("link %d by %v: %d clicks, want %d", id, d, byDimension[d], sum.Clicks)
		}
	}
	var clicks, bots, hours int64
	err := connect(tb, url).QueryRow(tb.Context(), `SELECT c.clicks, c.bots, coalesce((
		SELECT sum(h.clicks) FROM click_hour h WHERE h.link_id = c.link_id), 0)::bigint
		FROM click_link c WHERE c.link_id = $1`, id).Scan(&clicks, &bots, &hours)
	if err != nil {
		tb.Fatalf("clicks of link %d: %v", id, err)
	}
	if uint64(clicks) != sum.Clicks || uint64(bots) != sum.Bots || uint64(hours) != sum.Clicks {
		tb.Errorf("link %d: %d clicks by bots %d in all, %d by hour, want %+v as by day", id, clicks, bots, hours, sum)
	}
	return sum.Clicks
}
