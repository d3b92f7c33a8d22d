package postgres_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/clicks"
	"waypost/origin/internal/postgres"
	"waypost/shared/click"
	"waypost/shared/link"
)

// lines is a log that a test reads.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// with counts the lines that have all the words.
func (l *lines) with(words ...string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
next:
	for line := range strings.Lines(l.buf.String()) {
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue next
			}
		}
		n++
	}
	return n
}

func openLogged(t *testing.T, url string) (*postgres.Store, *lines) {
	t.Helper()
	l := &lines{}
	s, err := postgres.Open(t.Context(), postgres.Config{
		URL: url, ConnectTimeout: time.Minute, StatementTimeout: time.Minute, LockTimeout: time.Minute,
		Logger: slog.New(slog.NewJSONHandler(l, nil)),
	})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(s.Close)
	return s, l
}

// TestADamagedColumnNeitherStopsCountingNorStatistics damages one packed column
// after another, each in several ways, between two stretches of one log.
func TestADamagedColumnNeitherStopsCountingNorStatistics(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	openStore(t, url) // migrated
	const before, after = 300, 250
	damages := map[string]string{
		"gone":            `''`,
		"another format":  `'\x02'`,
		"of no sense":     `'\xffffffffffffffff'`,
		"does not add up": `'\x0100016101'`,
		"cut short":       `substring(%s FROM 1 FOR octet_length(%s) / 2)`,
	}
	columns := []struct{ table, column string }{
		{"click_hour", "parts"},
		{"click_detail", "parts"},
		{"click_detail", "recent"},
		{"click_newest", "newest"},
		{"click_visitors", "sketch"},
	}
	for _, c := range columns {
		for name, value := range damages {
			if c.column == "newest" && name == "gone" {
				continue // of a link without clicks
			}
			t.Run(c.table+"."+c.column+" "+name, func(t *testing.T) {
				t.Parallel()
				s, told := openLogged(t, url)
				code := strings.NewReplacer(" ", "-", "_", "-").Replace(c.table + c.column + name)
				id := mustWrite(t, s, create(link.Key{Code: code}, content("https://a.example/"))).Link.ID
				l := &log{boot: code, region: "eu"}
				apply(t, s, l.stretch(many(id, noon(-1), before)...)) // more visitors than the day's row holds
				value := strings.ReplaceAll(value, "%s", c.column)
				exec(t, url, `UPDATE `+c.table+` SET `+c.column+` = `+value+` WHERE link_id = $1`, id)

				// What is there is shown, twice, and told once.
				for range 2 {
					if _, err := s.RecentClicks(t.Context(), id); err != nil {
						t.Errorf("RecentClicks: %v", err)
					}
					if got := total(t, s, url, id); got != before {
						t.Errorf("%d clicks are shown, want %d", got, before)
					}
					hour := noon(-1)
					stats(t, s, id, clicks.Query{Range: clicks.Range{From: hour, To: hour.Add(time.Hour)}, Day: hour, Today: today()})
				}
				if n := told.with(c.table+"."+c.column, `"link"`); n != 1 || s.ClickStats().Damaged != 1 {
					t.Errorf("told %d times, counted %d, want 1: %s", n, s.ClickStats().Damaged, told.buf.String())
				}

				visits := many(id, noon(-1), after)
				for i := range visits {
					visits[i].referrer = "b.example"
				}
				apply(t, s, l.stretch(visits...))
				if got := total(t, s, url, id); got != before+after {
					t.Errorf("%d clicks after the damage, want %d", got, before+after)
				}
				newest, err := s.RecentClicks(t.Context(), id)
				if err != nil || len(newest) != click.MaxNewest || newest[0].Referrer != "b.example" {
					t.Errorf("%d newest clicks, %v", len(newest), err)
				}
				wantReferrers(t, s, id, c.column == "parts" && c.table == "click_detail", before, after)
				if got := s.ClickStats().Damaged; got != 1 {
					t.Errorf("counted %d damaged, want 1", got)
				}
				fresh, quiet := openLogged(t, url)
				total(t, fresh, url, id)
				if n := quiet.with("damaged"); n != 0 {
					t.Errorf("%d damages are left: %s", n, quiet.buf.String())
				}
			})
		}
	}
}

// wantReferrers says by which referrers a day's clicks are divided: by those they
// came from, or what came before the damage by none that is known.
func wantReferrers(t *testing.T, s *postgres.Store, id int64, damaged bool, before, after uint64) {
	t.Helper()
	st := stats(t, s, id, lately(1, 0))
	got := make(map[string]uint64)
	for _, share := range st.By(click.ByReferrer) {
		got[share.Value] = share.Clicks
	}
	first := "a.example"
	if damaged {
		first = click.Other
	}
	if len(st.Visitors) != 1 || st.Visitors[0].Count < after {
		t.Errorf("visitors %+v, want those since the damage at least", st.Visitors)
	}
	if got[first] != before || got["b.example"] != after || len(got) != 2 {
		t.Errorf("referrers %v, want %d of %s and %d of b.example", got, before, first, after)
	}
}
