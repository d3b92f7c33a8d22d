package api_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/postgres"
	"waypost/shared/click"
)

// hit are clicks of one link in one hour, all alike.
type hit struct {
	link         uint64
	at           time.Time
	clicks, bots uint64
	referrer     string
}

// apply counts clicks as an edge of the region would bring them, each visitor
// another one.
func (s *server) apply(region string, hits ...hit) {
	s.t.Helper()
	slices.SortFunc(hits, func(a, b hit) int { return int(a.link) - int(b.link) })
	stretch := &click.Stretch{Boot: fmt.Sprint(region, " ", rand.Uint64()), Region: region, To: 1, Last: true}
	for _, h := range hits {
		hour := click.HourOf(h.at.UnixMicro())
		parts := make([]click.Part, click.Dimensions)
		for d := range parts {
			parts[d] = click.Part{Dimension: click.Dimension(d), Clicks: h.clicks}
		}
		parts[click.ByRegion].Value, parts[click.ByReferrer].Value = region, h.referrer
		parts[click.ByDevice].Value, parts[click.ByBrowser].Value, parts[click.ByOS].Value = "mobile", "chrome", "ios"
		parts[click.ByLanguage].Value = "de"
		l := click.LinkClicks{Link: h.link, Hours: []click.Hour{{Hour: hour, Clicks: h.clicks, Bots: h.bots, Parts: parts}}}
		if h.clicks > h.bots {
			visitors := click.Sketch{}
			for i := range h.clicks - h.bots {
				visitors.Add(rand.Uint64() | 1<<63 | i)
			}
			l.Days = []click.Day{{Day: click.DayOf(hour), Visitors: visitors}}
		}
		for i := range min(h.clicks, click.MaxNewest) {
			l.Newest = append(l.Newest, click.Recent{
				At: h.at.UnixMicro() - int64(i), Region: region, Referrer: h.referrer, Device: "mobile", Browser: "chrome", OS: "ios", Bot: i < h.bots,
			})
		}
		stretch.Links = append(stretch.Links, l)
	}
	stretch, err := click.ParseStretch(stretch.Append(nil)) // as it comes from an edge
	if err != nil {
		s.t.Fatalf("stretch: %v", err)
	}
	if _, applied, err := s.store.ApplyStretch(s.t.Context(), stretch); err != nil || !applied {
		s.t.Fatalf("ApplyStretch: applied %t, %v", applied, err)
	}
}

// today is the middle of the present day, or before it the hour that it is; or
// the middle of a day so many days before.
func today(before int) time.Time {
	now := time.Now().UTC()
	noon := now.Truncate(24*time.Hour).AddDate(0, 0, -before).Add(12 * time.Hour)
	if before == 0 && now.Before(noon) {
		return now.Truncate(time.Hour)
	}
	return noon
}

func day(at time.Time) string { return at.Format(time.DateOnly) }

// list is a member of an answer that is a list.
func (a answer) list(name string) []any {
	list, _ := a.json[name].([]any)
	return list
}

func (a answer) counts(name string) map[string]any {
	counts, _ := a.json[name].(map[string]any)
	return counts
}

func TestStatsHaveTheFieldsOfTheContract(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.link("seen", "ann")
	at := today(0)
	s.apply("eu", hit{link: id, at: at, clicks: 5, bots: 2, referrer: "a.example"})
	s.apply("us", hit{link: id, at: at.Add(-24 * time.Hour), clicks: 3})
	a := s.want(200, "GET", "/api/v1/links/seen/stats", "", bearer(s.key("ann", "stats:read")))
	want := []string{
		"by_browser", "by_country", "by_day", "by_device", "by_hour", "by_language", "by_os", "by_referrer", "by_region",
		"clicks", "from", "to", "unique_today", "uniques_by_day",
	}
	if got := slices.Sorted(maps.Keys(a.json)); !slices.Equal(got, want) {
		t.Errorf("fields = %v, want %v", got, want)
	}
	sameJSON(t, "clicks", a.json["clicks"], map[string]int{"total": 8, "human": 6, "bot": 2})
	if a.json["unique_today"] != 3.0 {
		t.Errorf("unique_today = %v, want 3", a.json["unique_today"])
	}
	byDay, uniques := a.list("by_day"), a.list("uniques_by_day")
	if len(byDay) != 7 || len(uniques) != 7 {
		t.Fatalf("%d and %d days, want 7", len(byDay), len(uniques))
	}
	sameJSON(t, "by_day", byDay[5:], []any{
		map[string]any{"day": day(today(1)), "total": 3, "human": 3, "bot": 0}, map[string]any{"day": day(at), "total": 5, "human": 3, "bot": 2},
	})
	sameJSON(t, "uniques_by_day", uniques[4:], []any{
		map[string]any{"day": day(today(2)), "count": 0}, map[string]any{"day": day(today(1)), "count": 3}, map[string]any{"day": day(at), "count": 3},
	})
	var hours [24]int
	hours[at.Hour()] = 5
	sameJSON(t, "by_hour", a.json["by_hour"], hours)
	sameJSON(t, "by_region", a.json["by_region"], map[string]int{"eu": 5, "us": 3})
	sameJSON(t, "by_referrer", a.json["by_referrer"], map[string]int{"a.example": 5, "direct": 3})
	sameJSON(t, "by_country", a.json["by_country"], map[string]int{"unknown": 8})
	sameJSON(t, "by_language", a.json["by_language"], map[string]int{"de": 8})
	sameJSON(t, "by_os", a.json["by_os"], map[string]int{"ios": 8})
}

func TestStatsOfALinkWithoutClicksAreZeros(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.link("new", "")
	a := s.want(200, "GET", "/api/v1/links/new/stats?from=2024-02-28&to=2024-03-01&day=2024-02-29", "")
	if a.json["from"] != "2024-02-28T00:00:00Z" || a.json["to"] != "2024-03-02T00:00:00Z" {
		t.Errorf("range = %v to %v", a.json["from"], a.json["to"])
	}
	none := map[string]int{"total": 0, "human": 0, "bot": 0}
	sameJSON(t, "clicks", a.json["clicks"], none)
	var days []any
	for _, day := range []string{"2024-02-28", "2024-02-29", "2024-03-01"} {
		days = append(days, map[string]any{"day": day, "total": 0, "human": 0, "bot": 0})
	}
	sameJSON(t, "by_day", a.json["by_day"], days)
	sameJSON(t, "by_hour", a.json["by_hour"], [24]int{})
	sameJSON(t, "by_referrer", a.json["by_referrer"], map[string]int{})
	if list := s.want(200, "GET", "/api/v1/links/new/clicks", "").array; list == nil || len(list) != 0 {
		t.Errorf("clicks = %v, want none", list)
	}
	if list := s.want(200, "GET", "/api/v1/stats/top", "").array; list == nil || len(list) != 0 {
		t.Errorf("top = %v, want none", list)
	}
}

func TestARangeHasTheClicksOfItsHoursAndNoOthers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.link("seen", "")
	midnight := today(3).Add(-12 * time.Hour)
	hour := func(n int) time.Time { return midnight.Add(time.Duration(n) * time.Hour) }
	total := 0
	for n := range 72 { // n+1 clicks in each hour of three days
		s.apply("eu", hit{link: id, at: hour(n).Add(59 * time.Minute), clicks: uint64(n + 1), bots: uint64(n % 2)})
		total += n + 1
	}
	sum := func(from, to int) (n int) {
		for i := max(from, 0); i < min(to, 72); i++ {
			n += i + 1
		}
		return n
	}
	at := func(n, minutes int) string {
		return hour(n).Add(time.Duration(minutes) * time.Minute).Format(time.RFC3339)
	}
	for name, c := range map[string]struct {
		query           string
		wantFrom, until int // hours
	}{
		"all":                   {"from=" + day(hour(0)) + "&to=" + day(hour(48)), 0, 72},
		"one day":               {"from=" + day(hour(24)) + "&to=" + day(hour(24)), 24, 48},
		"one hour":              {"from=" + at(30, 0) + "&to=" + at(31, 0), 30, 31},
		"a part of an hour":     {"from=" + at(30, 10) + "&to=" + at(30, 20), 30, 31},
		"over a midnight":       {"from=" + at(20, 30) + "&to=" + at(25, 30), 20, 26},
		"a day and parts of it": {"from=" + at(20, 0) + "&to=" + at(50, 0), 20, 50},
		"before":                {"from=" + day(hour(-48)) + "&to=" + day(hour(-1)), -48, 0},
		"another zone":          {"from=" + strings.ReplaceAll(hour(30).In(time.FixedZone("", 2*3600)).Format(time.RFC3339), "+", "%2B") + "&to=" + at(33, 0), 30, 33},
	} {
		a := s.want(200, "GET", "/api/v1/links/seen/stats?"+c.query, "")
		if a.json["from"] != at(c.wantFrom, 0) || a.json["to"] != at(c.until, 0) {
			t.Errorf("%s: range %v to %v, want %s to %s", name, a.json["from"], a.json["to"], at(c.wantFrom, 0), at(c.until, 0))
		}
		clicks := a.json["clicks"].(map[string]any)
		if got, want := clicks["total"], float64(sum(c.wantFrom, c.until)); got != want {
			t.Errorf("%s: total %v, want %v", name, got, want)
		}
		for _, member := range []string{"total", "human", "bot"} {
			days := 0.0
			for _, d := range a.list("by_day") {
				days += d.(map[string]any)[member].(float64)
			}
			if days != clicks[member] {
				t.Errorf("%s: %s of the days is %v, of the range %v", name, member, days, clicks[member])
			}
		}
		if clicks["human"].(float64)+clicks["bot"].(float64) != clicks["total"] {
			t.Errorf("%s: %v does not add up", name, clicks)
		}
		for _, by := range []string{"by_region", "by_referrer", "by_country", "by_language", "by_device", "by_browser", "by_os"} {
			shares := 0.0
			for _, clicks := range a.counts(by) {
				shares += clicks.(float64)
			}
			if shares != clicks["total"] {
				t.Errorf("%s: %s adds up to %v of %v", name, by, shares, clicks["total"])
			}
		}
	}
	a := s.want(200, "GET", "/api/v1/links/seen/stats?day="+day(hour(24)), "")
	for h, got := range a.list("by_hour") {
		if want := float64(24 + h + 1); got != want {
			t.Errorf("hour %d: %v clicks, want %v", h, got, want)
		}
	}
}

func TestARangeIsWidenedToWholeDaysWhereHoursAreGone(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := serverOn(t, url)
	id := s.link("seen", "")
	old, young := today(10), today(1)
	s.apply("eu", hit{link: id, at: old, clicks: 5, bots: 1})
	s.apply("eu", hit{link: id, at: young, clicks: 3})
	forgetful, err := postgres.Open(t.Context(), postgres.Config{URL: url, MaxConns: 2, ClickHours: 5 * 24 * time.Hour})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer forgetful.Close()
	if err := forgetful.Prune(t.Context()); err != nil {
		t.Fatalf("Prune: %v", err)
	}
	clock := func(at time.Time, hours int) string {
		return at.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339)
	}
	for name, c := range map[string]struct {
		from, to, wantFrom, wantTo string
		want                       float64
	}{
		"within a day without hours":   {clock(old, -2), clock(old, -1), clock(old, -12), clock(old, 12), 5},
		"from a day without hours on":  {clock(old, 3), clock(young, 0), clock(old, -12), clock(young, 0), 5},
		"within a day with its hours":  {clock(young, -1), clock(young, 0), clock(young, -1), clock(young, 0), 0},
		"the hour of the other clicks": {clock(young, 0), clock(young, 1), clock(young, 0), clock(young, 1), 3},
	} {
		a := s.want(200, "GET", "/api/v1/links/seen/stats?from="+c.from+"&to="+c.to+"&day="+day(old), "")
		if a.json["from"] != c.wantFrom || a.json["to"] != c.wantTo {
			t.Errorf("%s: range %v to %v, want %s to %s", name, a.json["from"], a.json["to"], c.wantFrom, c.wantTo)
		}
		days := 0.0
		for _, d := range a.list("by_day") {
			days += d.(map[string]any)["total"].(float64)
		}
		if total := a.json["clicks"].(map[string]any)["total"]; total != c.want || days != c.want {
			t.Errorf("%s: total %v, of the days %v, want %v", name, total, days, c.want)
		}
		sameJSON(t, name+": by_hour", a.json["by_hour"], [24]int{})
	}
}

func TestRangesThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.link("seen", "")
	for query, want := range map[string][]string{
		"from=2026-03-02&to=2026-03-01":         {"from"},
		"from=2999-01-01":                       {"from"},
		"from=x&to=2026-02-29&day=2026-1-1":     {"day", "to", "from"},
		"from=2020-01-01&to=2026-01-01":         {"from"},
		"from=2026-03-01T00:00:00+01:00":        {"from"}, // a plus that is a space
		"from=2026-01-01&from=2026-01-02":       {"from"},
		"from=0000-01-01&to=9999-12-31":         {"to", "from"},
		"day=" + strings.Repeat("9", 1000):      {"day"},
		"from=2026-01-01&to=2026-01-02&limit=1": {"limit"},
	} {
		if got := s.want(422, "GET", "/api/v1/links/seen/stats?"+query, "").fields(); !slices.Equal(got, want) {
			t.Errorf("%s: fields = %v, want %v", query, got, want)
		}
	}
	for _, path := range []string{"stats/top?day=x", "stats/top?limit=0", "stats/top?limit=101", "links/seen/clicks?limit=0", "stats/orphans?from=2026-01-01&to=2026-12-31"} {
		s.want(422, "GET", "/api/v1/"+path, "")
	}
	for _, future := range []string{"from=2900-01-01&to=2900-01-02", "to=2999-12-31&from=2999-12-31"} {
		if a := s.want(200, "GET", "/api/v1/links/seen/stats?"+future, ""); len(a.list("by_day")) == 0 {
			t.Errorf("%s: %s, want days of zeros", future, a.Body)
		}
	}
}

func TestStatisticsAreForTheOwner(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	hers, his := s.link("hers", "ann"), s.link("his", "bob")
	s.apply("eu", hit{link: hers, at: today(0), clicks: 1}, hit{link: his, at: today(0), clicks: 9})
	ann := bearer(s.key("ann", "stats:read"))
	for _, path := range []string{"stats", "clicks", "live"} {
		s.want(404, "GET", "/api/v1/links/his/"+path, "", ann)
		s.want(404, "GET", "/api/v1/links/none/"+path, "", ann)
		s.want(404, "GET", "/api/v1/links/hers/"+path+"?domain=other.example", "", ann)
	}
	sameJSON(t, "her top", s.want(200, "GET", "/api/v1/stats/top", "", ann).array, []any{map[string]any{"code": "hers", "domain": "", "clicks": 1}})
	sameJSON(t, "the top", s.want(200, "GET", "/api/v1/stats/top?limit=1", "").array, []any{map[string]any{"code": "his", "domain": "", "clicks": 9}})
	if list := s.want(200, "GET", "/api/v1/stats/top?day="+day(today(1)), "").array; len(list) != 0 {
		t.Errorf("yesterday's top = %v, want none", list)
	}
	a := s.want(403, "GET", "/api/v1/stats/orphans", "", ann)
	if detail, _ := a.json["detail"].(string); !strings.Contains(detail, "confined") {
		t.Errorf("detail = %q, want it to say why", detail)
	}
}
