package postgres_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/clicks"
	"waypost/shared/click"
	"waypost/shared/link"
)

// farOff are hours that no honest edge names, before and after all that may be.
func farOff() []time.Time {
	now := time.Now()
	return []time.Time{time.Unix(0, 0), now.AddDate(-3, 0, 0), now.AddDate(0, 0, 10), now.AddDate(0, 0, 11), time.Unix(1<<56/1_000_000-3600, 0)}
}

// TestNoEdgeMakesRowsOfATimeThatIsFarOff has an edge name times from 1970 to
// 4253: its clicks count, and there are rows of today and of the day from which
// on marks are kept.
func TestNoEdgeMakesRowsOfATimeThatIsFarOff(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	id := mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/"))).Link.ID
	l := &log{boot: "b", region: "eu"}
	var visits []visit
	for i, at := range append(farOff(), time.Now()) {
		visits = append(visits, many(id, at, i+1)...)
	}
	st := l.stretch(visits...)
	var orphans uint64
	for i, at := range farOff() {
		st.Orphans = append(st.Orphans, click.HourCount{Hour: click.HourOf(at.UnixMicro()), Count: uint64(i + 1)})
		orphans += uint64(i + 1)
	}
	before := fmt.Sprintf("%x", st.Append(nil))
	apply(t, s, st)
	apply(t, s, l.stretch(many(id, farOff()[4], 2)...)) // to rows that are there
	if got := fmt.Sprintf("%x", st.Append(nil)); got != before {
		t.Error("the stretch was changed, which live views keep")
	}
	if got, want := total(t, s, url, id), uint64(1+2+3+4+5+6+2); got != want {
		t.Errorf("%d clicks, want %d", got, want)
	}
	if got, want := s.ClickStats().Moved, uint64(1+2+3+4+5+2); got != want {
		t.Errorf("%d clicks were moved, want %d", got, want)
	}
	oldest, latest := time.Now().AddDate(0, 0, -401), time.Now().Add(3*time.Hour)
	for _, table := range []string{"click_hour", "click_orphan"} {
		var n int
		err := connect(t, url).QueryRow(t.Context(),
			`SELECT count(*) FROM `+table+` WHERE hour < $1 OR hour > $2`, oldest, latest).Scan(&n)
		if err != nil || n != 0 {
			t.Errorf("%s has %d rows beyond, %v", table, n, err)
		}
	}
	for table, want := range map[string]int{"click_day": 2, "click_detail": 2} {
		// Today, and tomorrow in the last two hours of a day; and the oldest day.
		if n := count(t, url, table); n != want && n != want+1 {
			t.Errorf("%s has %d rows, want %d", table, n, want)
		}
	}
	newest, err := s.RecentClicks(t.Context(), id)
	if err != nil || len(newest) != click.MaxNewest {
		t.Fatalf("newest: %d, %v", len(newest), err)
	}
	for _, c := range newest {
		if at := time.UnixMicro(c.At); at.Before(oldest) || at.After(latest) {
			t.Errorf("a click of %v is shown", at)
		}
	}
	got, err := s.Orphans(t.Context(), clicks.Range{From: oldest, To: latest})
	for _, o := range got {
		orphans -= o.Count
	}
	if err != nil || orphans != 0 {
		t.Errorf("orphans %v, %v: %d are missing", got, err, orphans)
	}
	days := stats(t, s, id, lately(500, 500)).Visitors
	if n := len(days); n < 2 || days[0].Count != 2 || !slices.ContainsFunc(days[1:], func(d clicks.DayVisitors) bool { return d.Count >= 5 }) {
		t.Errorf("visitors by day: %+v, want those of far-off days among their nearest", days)
	}
}

func TestClicksWithinTwoHoursAreCountedInTheirHour(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	id := mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/"))).Link.ID
	l := &log{boot: "b", region: "eu"}
	now := time.Now().Truncate(time.Hour)
	want := []time.Time{now.AddDate(0, 0, -399), now.AddDate(0, 0, -10), now, now.Add(time.Hour)}
	var visits []visit
	for _, at := range want {
		visits = append(visits, visit{link: id, at: at})
	}
	apply(t, s, l.stretch(visits...))
	rows, err := connect(t, url).Query(t.Context(), `SELECT hour FROM click_hour ORDER BY hour`)
	if err != nil {
		t.Fatal(err)
	}
	var got []time.Time
	for rows.Next() {
		var at time.Time
		if err := rows.Scan(&at); err != nil {
			t.Fatal(err)
		}
		got = append(got, at.Local())
	}
	if !slices.EqualFunc(got, want, time.Time.Equal) || s.ClickStats().Moved != 0 {
		t.Errorf("hours %v, %d moved, want %v", got, s.ClickStats().Moved, want)
	}
}
