package postgres_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/clicks"
	"waypost/origin/internal/postgres"
	"waypost/shared/click"
	"waypost/shared/link"
)

func TestVisitorsAreCountedOnceADay(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	id := mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/"))).Link.ID
	eu, us := &log{boot: "eu", region: "eu"}, &log{boot: "us", region: "us"}
	visitors := func() uint64 { return stats(t, s, id, lately(1, 1)).Today }
	apply(t, s, eu.stretch(many(id, noon(0), 100)...))
	apply(t, s, us.stretch(many(id, noon(0), 150)...)) // the same hundred, on another edge
	apply(t, s, eu.stretch(many(id, noon(0).Add(time.Hour), 100)...))
	apply(t, s, eu.stretch(visit{link: id, at: noon(0), bot: true})) // is no visitor
	if got := visitors(); got != 150 {
		t.Errorf("%d visitors, want 150", got)
	}
	// Beyond what stands in the day's row, still exact.
	for n := 200; n <= 1000; n += 200 {
		apply(t, s, us.stretch(many(id, noon(0), n)...))
		if got := visitors(); got != uint64(n) {
			t.Errorf("%d visitors, want %d", got, n)
		}
	}
	apply(t, s, eu.stretch(many(id, noon(0), 10_000)...))
	for i := range 5 { // a few that are known
		apply(t, s, us.stretch(many(id, noon(0), 10+i)...))
	}
	if got := visitors(); math.Abs(float64(got)-10_000) > 200 {
		t.Errorf("%d visitors, want 10,000 within 2 %%", got)
	}
	apply(t, s, us.stretch(many(id, noon(-1), 3)...)) // one hash would not come on two days
	st := stats(t, s, id, lately(2, 1))
	if len(st.Visitors) != 2 || st.Visitors[0] != (clicks.DayVisitors{Day: today().AddDate(0, 0, -1), Count: 3}) {
		t.Errorf("visitors by day %v, want 3 yesterday and today's", st.Visitors)
	}
}

func TestTheNewestClicksAreKept(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	id := mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/"))).Link.ID
	if got, err := s.RecentClicks(t.Context(), id); err != nil || len(got) != 0 {
		t.Errorf("of a link without clicks: %v, %v", got, err)
	}
	eu, us := &log{boot: "eu", region: "eu"}, &log{boot: "us", region: "us"}
	at := func(n int) visit {
		return visit{link: id, at: noon(0).Add(time.Duration(n) * time.Second), referrer: fmt.Sprint("r", n), country: "DE", bot: n%2 == 0}
	}
	apply(t, s, us.stretch(at(29), at(28), at(27), at(3)))
	var rest []visit
	for n := range 27 {
		rest = append(rest, at(n))
	}
	apply(t, s, eu.stretch(rest[:10]...))
	apply(t, s, eu.stretch(rest[10:]...))
	got, err := s.RecentClicks(t.Context(), id)
	if err != nil || len(got) != click.MaxNewest {
		t.Fatalf("%d clicks, %v, want 20", len(got), err)
	}
	for i, c := range got {
		n := 29 - i
		want := click.Recent{
			At: noon(0).Add(time.Duration(n) * time.Second).UnixMicro(), Region: "eu", Referrer: fmt.Sprint("r", n),
			Device: "mobile", Browser: "chrome", OS: "android", Country: "DE", Bot: n%2 == 0,
		}
		if n >= 27 {
			want.Region = "us"
		}
		if c != want {
			t.Errorf("click %d: got %+v, want %+v", i, c, want)
		}
	}
	if got, err := s.RecentClicks(t.Context(), id+1); err != nil || len(got) != 0 {
		t.Errorf("of an unknown link: %v, %v", got, err)
	}
}

func TestReferrersAreBoundedAndNoClickIsLost(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	id := mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/"))).Link.ID
	l := &log{boot: "b", region: "eu"}
	for round := range 3 {
		var visits []visit
		for i := range 700 {
			visits = append(visits, visit{link: id, at: noon(0), referrer: fmt.Sprintf("%d-%03d.example", round, i)})
		}
		for range 50 {
			visits = append(visits, visit{link: id, at: noon(0), referrer: "popular.example"})
		}
		apply(t, s, l.stretch(visits...))
	}
	if got := total(t, s, url, id); got != 2250 {
		t.Errorf("%d clicks, want 2250", got)
	}
	var referrers int
	for _, p := range stats(t, s, id, lately(1, 1)).Parts {
		if p.Dimension == click.ByReferrer {
			referrers++
		}
		if p.Value == "popular.example" && p.Clicks != 150 {
			t.Errorf("popular.example has %d clicks, want 150", p.Clicks)
		}
	}
	if referrers != click.MaxReferrers+1 {
		t.Errorf("%d referrers, want 1,000 and other", referrers)
	}
}

func TestStatsOfPartsOfDaysAreCountedByTheHour(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	id := mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/"))).Link.ID
	l := &log{boot: "b", region: "eu"}
	var visits []visit
	for hour := range 96 { // from four days ago on, as many clicks as the number of the hour
		for range hour {
			visits = append(visits, visit{link: id, at: today().AddDate(0, 0, -4).Add(time.Duration(hour)*time.Hour + 59*time.Minute)})
		}
	}
	apply(t, s, l.stretch(visits...))
	for _, tt := range []struct{ from, to int }{{0, 96}, {0, 24}, {24, 72}, {5, 6}, {23, 24}, {23, 25}, {1, 95}, {30, 40}, {40, 40 + 24}, {-100, 3}, {95, 300}} {
		q := lately(0, 0)
		q.Day = today().AddDate(0, 0, -1)
		q.Range = clicks.Range{
			From: today().AddDate(0, 0, -4).Add(time.Duration(tt.from) * time.Hour),
			To:   today().AddDate(0, 0, -4).Add(time.Duration(tt.to) * time.Hour),
		}
		want := uint64(0)
		for hour := max(tt.from, 0); hour < min(tt.to, 96); hour++ {
			want += uint64(hour)
		}
		st := stats(t, s, id, q)
		sum := uint64(0)
		for _, p := range st.Parts {
			if p.Dimension == click.ByDevice {
				sum += p.Clicks
			}
		}
		if st.Range != q.Range || st.Total().Clicks != want || sum != want {
			t.Errorf("hours %d to %d: range %v, %d clicks, %d by device, want %v, %d", tt.from, tt.to, st.Range, st.Total().Clicks, sum, q.Range, want)
		}
		if st.Hours[0] != 72 || st.Hours[23] != 95 {
			t.Errorf("hours %d to %d: the last day's hours %v, want 72 to 95 clicks", tt.from, tt.to, st.Hours)
		}
	}
	none := stats(t, s, id+1, lately(7, 1))
	if none.Total() != (clicks.Tally{}) || none.Today != 0 || none.Hours != [24]uint64{} || len(none.Parts) != 0 {
		t.Errorf("of a link without clicks: %+v", none)
	}
}

// openKeeping is openStore for one that keeps hours for so many days.
func openKeeping(t *testing.T, url string, days int) *postgres.Store {
	t.Helper()
	openStore(t, url)
	s, err := postgres.Open(t.Context(), postgres.Config{
		URL: url, StatementTimeout: time.Minute, ClickHours: time.Duration(days) * 24 * time.Hour,
	})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

func hourPartitions(t *testing.T, url string) []string {
	t.Helper()
	var names []string
	rows, err := connect(t, url).Query(t.Context(),
		`SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'click_hour'::regclass ORDER BY 1`)
	if err != nil {
		t.Fatalf("partitions: %v", err)
	}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatalf("partitions: %v", err)
		}
		names = append(names, name)
	}
	return names
}

func TestDaysStayExactWhenTheirHoursAreGone(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openKeeping(t, url, 10)
	id := mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/"))).Link.ID
	// Weeks as origins made them when they were to come.
	week := today().AddDate(0, 0, -30)
	week = week.AddDate(0, 0, -int(week.Unix()/86400%7))
	for range 2 {
		exec(t, url, `CREATE TABLE click_hour_`+week.Format("20060102")+` PARTITION OF click_hour FOR VALUES FROM ('`+
			week.Format(time.RFC3339)+`') TO ('`+week.AddDate(0, 0, 7).Format(time.RFC3339)+`')`)
		week = week.AddDate(0, 0, 7)
	}
	l := &log{boot: "b", region: "eu"}
	for days := range 40 {
		apply(t, s, l.stretch(many(id, noon(-days).Add(time.Duration(days%12)*time.Hour), days+1)...))
	}
	before := stats(t, s, id, lately(50, 1))
	prune(t, s)
	prune(t, s)
	if n := count(t, url, `click_hour WHERE hour < $1`, today().AddDate(0, 0, -11)); n != 0 {
		t.Errorf("%d rows of hours are left from before the day before ten days ago", n)
	}
	if n := count(t, url, `click_hour WHERE hour >= $1`, today().AddDate(0, 0, -10)); n != 11 {
		t.Errorf("%d rows of hours, want 11", n)
	}
	names := hourPartitions(t, url)
	for _, name := range names {
		if name != "click_hour_default" && name < "click_hour_"+today().AddDate(0, 0, -18).Format("20060102") {
			t.Errorf("partition %s is still there", name)
		}
	}
	after := stats(t, s, id, lately(50, 1))
	if !slices.Equal(after.Days, before.Days) || !slices.Equal(after.Parts, before.Parts) || len(after.Days) != 40 ||
		after.Total().Clicks != 40*41/2 {
		t.Errorf("days after the hours were dropped: %+v, want %+v", after, before)
	}
	// A range is widened to days where there are no hours any more.
	q := lately(50, 1)
	q.Range = clicks.Range{From: noon(-20), To: noon(-15)}
	st := stats(t, s, id, q)
	if want := uint64(21 + 20 + 19 + 18 + 17 + 16); st.Total().Clicks != want ||
		!st.Range.From.Equal(today().AddDate(0, 0, -20)) || !st.Range.To.Equal(today().AddDate(0, 0, -14)) {
		t.Errorf("range %v with %d clicks, want whole days with %d", st.Range, st.Total().Clicks, want)
	}
	// What comes as late as that is counted by the day.
	apply(t, s, l.stretch(many(id, noon(-20), 5)...))
	if n := count(t, url, `click_hour WHERE hour < $1`, today().AddDate(0, 0, -11)); n != 0 {
		t.Errorf("%d rows of hours that are not kept", n)
	}
	st = stats(t, s, id, q)
	if got := st.Total().Clicks; got != 21+20+19+18+17+16+5 {
		t.Errorf("%d clicks after five came late, want 116", got)
	}
}

func TestHoursArePartitionedByTheWeek(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	start := today().AddDate(0, 0, -int(today().Unix()/86400%7))
	var want []string
	for weeks := range 3 {
		want = append(want, "click_hour_"+start.AddDate(0, 0, 7*weeks).Format("20060102"))
	}
	want = append(want, "click_hour_default")
	if got := hourPartitions(t, url); !slices.Equal(got, want) {
		t.Errorf("partitions after Migrate %q, want %q", got, want)
	}
	exec(t, url, `DROP TABLE `+want[1])
	id := mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/"))).Link.ID
	apply(t, s, part("b", id, 0, 3))
	prune(t, s)
	if got := hourPartitions(t, url); !slices.Equal(got, want) {
		t.Errorf("partitions after Prune %q, want %q", got, want)
	}
	if n := count(t, url, want[0]); n != 1 {
		t.Errorf("this week's partition has %d rows, want 1", n)
	}
}

func TestErasureLeavesNothingOfOneLink(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	id := mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/"))).Link.ID
	other := mustWrite(t, s, create(link.Key{Code: "other"}, content("https://a.example/"))).Link.ID
	l := &log{boot: "b", region: "eu"}
	for days := range 3 {
		apply(t, s, l.stretch(append(many(id, noon(-20*days), 300), many(other, noon(-20*days), 300)...)...))
	}
	if err := s.EraseClicks(t.Context(), id); err != nil {
		t.Fatalf("EraseClicks: %v", err)
	}
	for _, table := range []string{"click_hour", "click_day", "click_detail", "click_visitors"} {
		if n := count(t, url, table+` WHERE link_id = $1`, id); n != 0 {
			t.Errorf("%s has %d rows of the link", table, n)
		}
		if n := count(t, url, table+` WHERE link_id = $1`, other); n != 3 {
			t.Errorf("%s has %d rows of the other link, want 3", table, n)
		}
	}
	if got, err := s.RecentClicks(t.Context(), id); err != nil || len(got) != 0 {
		t.Errorf("newest clicks %v, %v, want none", got, err)
	}
	if got := total(t, s, url, id); got != 0 {
		t.Errorf("%d clicks, want 0", got)
	}
	apply(t, s, l.stretch(many(id, noon(0), 2)...))
	if got := total(t, s, url, id); got != 2 {
		t.Errorf("%d clicks after two more, want 2", got)
	}
	if got := total(t, s, url, other); got != 900 {
		t.Errorf("%d clicks of the other link, want 900", got)
	}
	if err := s.EraseClicks(t.Context(), 1<<40); err != nil {
		t.Errorf("EraseClicks of a link that is none: %v", err)
	}
}

func TestADeletedLinksCountsStayForATime(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openKeeping(t, url, 10)
	key := link.Key{Code: "k"}
	first := mustWrite(t, s, create(key, &link.Link{Target: "https://a.example/", Status: 302, Enabled: true, MaxClicks: 3})).Link.ID
	if u, err := s.Use(t.Context(), key); err != nil || u.Entry.Target == "" {
		t.Fatalf("Use: %+v, %v", u, err)
	}
	apply(t, s, part("a", first, 0, 10))
	mustWrite(t, s, remove(key))
	apply(t, s, part("a", first, 10, 15)) // which an edge still had
	second := mustWrite(t, s, create(key, content("https://b.example/"))).Link.ID
	apply(t, s, part("b", second, 0, 1))
	prune(t, s)
	if l, err := s.Counted(t.Context(), key); err != nil || l.ID != second {
		t.Errorf("Counted: %+v, %v, want the new link", l, err)
	}
	if a, b := total(t, s, url, first), total(t, s, url, second); a != 15 || b != 1 {
		t.Errorf("%d clicks of the deleted link, %d of the new one, want 15 and 1", a, b)
	}
	exec(t, url, `UPDATE click_gone SET at = at - interval '9 days'`)
	prune(t, s)
	if got := total(t, s, url, first); got != 15 {
		t.Errorf("%d clicks after nine days, want 15", got)
	}
	exec(t, url, `UPDATE click_gone SET at = at - interval '2 days'`)
	prune(t, s)
	for _, table := range []string{"click_link", "click_newest", "click_hour", "click_day", "click_detail", "click_gone", "link_use"} {
		if n := count(t, url, table+` WHERE link_id = $1`, first); n != 0 {
			t.Errorf("%s has %d rows of the deleted link", table, n)
		}
	}
	mustWrite(t, s, remove(key))
	if l, err := s.Counted(t.Context(), key); err != nil || l.ID != second || l.DeletedAt.IsZero() {
		t.Errorf("Counted: %+v, %v, want the new link's tombstone", l, err)
	}
	exec(t, url, `UPDATE click_gone SET at = at - interval '11 days'`)
	prune(t, s)
	if l, err := s.Counted(t.Context(), key); !errors.Is(err, link.ErrNotFound) {
		t.Errorf("Counted after the counts are gone: %+v, %v, want ErrNotFound", l, err)
	}
	apply(t, s, part("a", first, 15, 16)) // later than that is too late
	if n := count(t, url, `click_day`); n != 0 {
		t.Errorf("%d days are counted of links that are gone", n)
	}
}

func TestLinksOfAnOriginOfTheVersionBeforeAreCounted(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	// As such an origin writes: it knows of no counters.
	id := newLinks(t, url, 1)[0]
	apply(t, s, part("b", id, 0, 2))
	if got := total(t, s, url, id); got != 2 {
		t.Errorf("%d clicks, want 2", got)
	}
}

func TestMarksGoLongAfterTheyWereMoved(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	for boot, last := range map[string]bool{"open": false, "given up": false, "closed": true, "young": true} {
		apply(t, s, &click.Stretch{Boot: boot, To: 5, Last: last})
	}
	exec(t, url, `UPDATE click_mark SET touched = touched - interval '401 days' WHERE boot <> 'young'`)
	exec(t, url, `UPDATE click_mark SET touched = touched - interval '1600 days' WHERE boot = 'given up'`)
	prune(t, s)
	for boot, want := range map[string]uint64{"open": 5, "given up": 0, "closed": 0, "young": 5} {
		mark, _, err := s.ApplyStretch(t.Context(), &click.Stretch{Boot: boot})
		if err != nil || mark != want {
			t.Errorf("mark of %s: %d, %v, want %d", boot, mark, err, want)
		}
	}
}

func TestTopLinksAreThoseOfTheOwner(t *testing.T) {
	t.Parallel()
	s := registered(t, newStore(t))
	l := &log{boot: "b", region: "eu"}
	var visits []visit
	for i, owner := range []string{"ann", "ben", "ann", "", "ben"} {
		made := content("https://a.example/")
		made.Owner = owner
		key := link.Key{Domain: "go.example", Code: fmt.Sprint("k", i)}
		id := mustWrite(t, s, create(key, made)).Link.ID
		visits = append(visits, many(id, noon(0), 10*(i+1))...)
		visits = append(visits, many(id, noon(-1), 50-i)...)
		if i == 4 {
			mustWrite(t, s, remove(key))
		}
	}
	apply(t, s, l.stretch(visits...))
	ann, nobody, eve := "ann", "", "eve"
	for _, tt := range []struct {
		name  string
		days  int
		owner *string
		limit int
		want  string
	}{
		{"all", 0, nil, 10, "k3 40, k2 30, k1 20, k0 10"},
		{"the first", 0, nil, 2, "k3 40, k2 30"},
		{"yesterday", -1, nil, 10, "k0 50, k1 49, k2 48, k3 47"},
		{"a day without clicks", -2, nil, 10, ""},
		{"one owner's", 0, &ann, 10, "k2 30, k0 10"},
		{"one owner's first", 0, &ann, 1, "k2 30"},
		{"nobody's", 0, &nobody, 10, "k3 40"},
		{"of somebody without links", 0, &eve, 10, ""},
	} {
		top, err := s.TopLinks(t.Context(), today().AddDate(0, 0, tt.days), tt.owner, tt.limit)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		var got []string
		for _, r := range top {
			if r.Key.Domain != "go.example" {
				t.Errorf("%s: key %v has another domain", tt.name, r.Key)
			}
			got = append(got, fmt.Sprintf("%s %d", r.Key.Code, r.Clicks))
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
