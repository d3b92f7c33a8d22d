package postgres_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/clicks"
	"waypost/origin/internal/postgres"
	"waypost/shared/click"
	"waypost/shared/link"
)

// part is the clicks from one offset of a log to another, one an offset.
func part(boot string, id int64, from, to uint64) *click.Stretch {
	l := &log{boot: boot, region: "eu", at: from}
	return l.stretch(many(id, noon(0), int(to-from))...)
}

func TestEveryClickIsCountedOnce(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	type send struct {
		from, to uint64
		mark     uint64 // answered
	}
	for i, tt := range []struct {
		name  string
		sends []send
		want  uint64
	}{
		{"one after the other", []send{{0, 10, 10}, {10, 15, 15}}, 15},
		{"repeated", []send{{0, 10, 10}, {0, 10, 10}, {10, 15, 15}, {10, 15, 15}, {0, 10, 15}}, 15},
		{"out of order", []send{{10, 15, 0}, {0, 10, 10}, {10, 15, 15}}, 15},
		{"an answer was lost and a longer one is sent instead", []send{{0, 10, 10}, {0, 15, 10}, {10, 15, 15}}, 15},
		{"a shorter one instead", []send{{0, 10, 10}, {0, 5, 10}, {5, 10, 10}, {10, 11, 11}}, 11},
		{"one that overlaps", []send{{0, 10, 10}, {5, 15, 10}, {10, 15, 15}}, 15},
		{"one too far ahead", []send{{0, 10, 10}, {11, 15, 10}}, 10},
		{"a segment shorter than the mark after a power cut", []send{{0, 10, 10}, {8, 9, 10}, {9, 12, 10}, {10, 12, 12}}, 12},
		{"of an unknown log", []send{{10, 15, 0}}, 0},
		{"only asked", []send{{0, 0, 0}, {7, 7, 0}, {0, 10, 10}, {10, 10, 10}, {0, 0, 10}, {10, 12, 12}}, 12},
	} {
		id := mustWrite(t, s, create(link.Key{Code: fmt.Sprint("once", i)}, content("https://a.example/"))).Link.ID
		before := uint64(0)
		for j, send := range tt.sends {
			mark, applied, err := s.ApplyStretch(t.Context(), wire(t, part(tt.name, id, send.from, send.to)))
			if err != nil || mark != send.mark || applied != (send.mark > before) {
				t.Errorf("%s, send %d: mark %d, applied %v, %v, want %d, %v", tt.name, j, mark, applied, err, send.mark, send.mark > before)
			}
			before = mark
		}
		if got := total(t, s, url, id); got != tt.want {
			t.Errorf("%s: %d clicks, want %d", tt.name, got, tt.want)
		}
	}
}

func TestAnEdgeWithAWipedDiskIsAnotherLog(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	id := mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/"))).Link.ID
	apply(t, s, part("first", id, 0, 10))
	apply(t, s, part("second", id, 0, 7))
	apply(t, s, part("first", id, 10, 12))
	for range 2 {
		if mark, _, err := s.ApplyStretch(t.Context(), part("first", id, 0, 10)); err != nil || mark != 12 {
			t.Errorf("mark of the first %d, %v, want 12", mark, err)
		}
	}
	if got := total(t, s, url, id); got != 19 {
		t.Errorf("%d clicks, want 19", got)
	}
	if got, want := s.ClickStats(), (postgres.ClickStats{Stretches: 3, Clicks: 19, Repeated: 2}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

// TestManySendersOfOneLogCountOnce has each of two origins send what it finds
// uncounted of one log, in pieces of its own.
func TestManySendersOfOneLogCountOnce(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	stores := []*postgres.Store{openStore(t, url), openStore(t, url)}
	id := mustWrite(t, stores[0], create(link.Key{Code: "k"}, content("https://a.example/"))).Link.ID
	const end = 200
	var wg sync.WaitGroup
	for i, s := range stores {
		for range 2 {
			wg.Go(func() {
				for mark := uint64(0); mark < end; {
					var err error
					if mark, _, err = s.ApplyStretch(t.Context(), part("b", id, mark, min(mark+7+uint64(i), end))); err != nil {
						t.Errorf("ApplyStretch: %v", err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	if got := total(t, stores[0], url, id); got != end {
		t.Errorf("%d clicks, want %d", got, end)
	}
}

func TestAStretchThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	id := mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/"))).Link.ID
	quick, err := postgres.Open(t.Context(), postgres.Config{URL: url, StatementTimeout: time.Second})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(quick.Close)
	tx, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	// The last of its steps will not get through.
	if _, err := tx.Exec(t.Context(), `LOCK TABLE click_orphan`); err != nil {
		t.Fatalf("lock: %v", err)
	}
	st := part("b", id, 0, 10)
	st.Orphans = []click.HourCount{{Hour: 5, Count: 1}}
	if mark, applied, err := quick.ApplyStretch(t.Context(), st); !errors.Is(err, link.ErrUnavailable) || applied || mark != 0 {
		t.Errorf("mark %d, applied %v, %v, want ErrUnavailable", mark, applied, err)
	}
	if got := total(t, s, url, id); got != 0 {
		t.Errorf("%d clicks of a stretch that failed", got)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatalf("rollback: %v", err)
	}
	apply(t, s, st)
	if got := total(t, s, url, id); got != 10 {
		t.Errorf("%d clicks, want 10", got)
	}
}

func TestStretchesThatCannotBeCountedAreRefused(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for name, st := range map[string]*click.Stretch{
		"clicks without a length":  {Boot: "b", From: 5, To: 5, Orphans: []click.HourCount{{Hour: 1, Count: 1}}},
		"an offset that is none":   {Boot: "b", To: math.MaxInt64 + 1},
		"the wrong way round":      {Boot: "b", From: 2, To: 1},
		"a name that is no text":   {Boot: "b\x00", To: 1},
		"a region that is no text": {Boot: "b", Region: "\x00", To: 1},
	} {
		_, _, err := s.ApplyStretch(t.Context(), st)
		if _, ok := errors.AsType[*link.InvalidError](err); !ok {
			t.Errorf("%s: %v, want an InvalidError", name, err)
		}
	}
}

func TestAStretchOfNothingMovesTheMark(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	id := mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/"))).Link.ID
	apply(t, s, &click.Stretch{Boot: "b", Region: "eu", To: 10})
	apply(t, s, part("b", id, 10, 12))
	apply(t, s, &click.Stretch{Boot: "b", Region: "eu", From: 12, To: 20, Last: true})
	if got := total(t, s, url, id); got != 2 {
		t.Errorf("%d clicks, want 2", got)
	}
}

func TestClicksOfLinksThatAreNoneArePassedOver(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	id := mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/"))).Link.ID
	l := &log{boot: "b", region: "eu"}
	st := l.stretch(visit{link: id - 1, at: noon(0)}, visit{link: id, at: noon(0)}, visit{link: id + 1, at: noon(0)})
	st.Links = append(st.Links, st.Links[2])
	st.Links[3].Link = math.MaxUint64
	apply(t, s, st)
	apply(t, s, l.stretch(visit{link: id + 1, at: noon(0)}))
	if got := total(t, s, url, id); got != 1 {
		t.Errorf("%d clicks, want 1", got)
	}
	for _, table := range []string{"click_link", "click_day", "click_hour"} {
		if n := count(t, url, table); n != 1 {
			t.Errorf("%s has %d rows, want 1", table, n)
		}
	}
}

// TestClicksOfManyLinksAddUp has two edges send clicks of 1,000 links, some far
// more often than others, over three days.
func TestClicksOfManyLinksAddUp(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	ids := newLinks(t, url, 1000)
	random := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(random, 1.1, 1, uint64(len(ids)-1))
	all, bots := make(map[int64]uint64), make(map[int64]uint64)
	onToday := make(map[int64]uint64)
	logs := []*log{{boot: "eu", region: "eu"}, {boot: "us", region: "us"}}
	for round := range 12 {
		visits := make([]visit, 5000)
		for i := range visits {
			v := visit{
				link: ids[zipf.Uint64()], at: today().AddDate(0, 0, -random.IntN(3)).Add(time.Duration(random.IntN(86400)) * time.Second),
				referrer: fmt.Sprintf("%d.example", random.IntN(30)), country: "FR", bot: random.IntN(10) == 0,
			}
			if !v.bot {
				v.visitor = hash(uint64(random.IntN(50)))
			}
			all[v.link]++
			if v.bot {
				bots[v.link]++
			}
			if !v.at.Before(today()) {
				onToday[v.link]++
			}
			visits[i] = v
		}
		apply(t, s, logs[round%2].stretch(visits...))
	}
	sums := make(map[int64]int64)
	for _, id := range ids[:40] {
		if got := total(t, s, url, id); got != all[id] {
			t.Errorf("link %d: %d clicks, want %d", id, got, all[id])
		}
		st := stats(t, s, id, lately(3, 1))
		if got := st.Total(); got.Bots != bots[id] {
			t.Errorf("link %d: %d clicks by bots, want %d", id, got.Bots, bots[id])
		}
		hours := uint64(0)
		for _, n := range st.Hours {
			hours += n
		}
		if hours != onToday[id] {
			t.Errorf("link %d: %d clicks in today's hours, want %d", id, hours, onToday[id])
		}
	}
	rows, err := connect(t, url).Query(t.Context(), `SELECT link_id, clicks FROM click_link`)
	if err != nil {
		t.Fatalf("clicks: %v", err)
	}
	for rows.Next() {
		var id, n int64
		if err := rows.Scan(&id, &n); err != nil {
			t.Fatalf("clicks: %v", err)
		}
		sums[id] = n
	}
	for _, id := range ids {
		if uint64(sums[id]) != all[id] {
			t.Errorf("link %d: %d clicks, want %d", id, sums[id], all[id])
		}
	}
	best := slices.Clone(ids)
	slices.SortFunc(best, func(a, b int64) int { return int(int64(onToday[b])-int64(onToday[a]))*1000 + int(b-a) })
	top, err := s.TopLinks(t.Context(), today(), nil, 10)
	if err != nil || len(top) != 10 {
		t.Fatalf("TopLinks: %+v, %v", top, err)
	}
	for i, r := range top {
		if want := fmt.Sprint("k", best[i]); r.Key.Code != want || r.Clicks != onToday[best[i]] {
			t.Errorf("place %d: %+v, want %s with %d", i, r, want, onToday[best[i]])
		}
	}
}

func TestStretchesOfTheSameLinksNeverDeadlock(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	stores := []*postgres.Store{openStore(t, url), openStore(t, url)}
	ids := newLinks(t, url, 60)
	const rounds = 15
	var wg sync.WaitGroup
	for sender := range 4 {
		wg.Go(func() {
			l := &log{boot: fmt.Sprint("b", sender), region: "eu"}
			for range rounds {
				visits := make([]visit, len(ids))
				for i, id := range ids {
					visits[i] = visit{link: id, at: noon(0), visitor: hash(uint64(sender))}
				}
				st := l.stretch(visits...)
				if sender%2 == 1 {
					slices.Reverse(st.Links) // as no edge sends them
				}
				st.Orphans = []click.HourCount{{Hour: click.HourOf(noon(0).UnixMicro()), Count: 1}}
				if _, applied, err := stores[sender/2].ApplyStretch(t.Context(), st); err != nil || !applied {
					t.Errorf("sender %d: applied %v, %v", sender, applied, err)
				}
			}
		})
	}
	wg.Wait()
	for _, id := range []int64{ids[0], ids[len(ids)-1]} {
		if got := total(t, stores[0], url, id); got != 4*rounds {
			t.Errorf("link %d: %d clicks, want %d", id, got, 4*rounds)
		}
	}
}

func TestOthersAreAnsweredWhileStretchesAreStuck(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	id := mustWrite(t, s, create(link.Key{Code: "k"}, content("https://a.example/"))).Link.ID
	tx, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT FROM click_link WHERE link_id = $1 FOR UPDATE`, id); err != nil {
		t.Fatalf("lock: %v", err)
	}
	var wg sync.WaitGroup
	for i := range postgres.MaxStretches {
		wg.Go(func() {
			if _, applied, err := s.ApplyStretch(t.Context(), part(fmt.Sprint("b", i), id, 0, 5)); err != nil || !applied {
				t.Errorf("ApplyStretch: applied %v, %v", applied, err)
			}
		})
	}
	awaitLocks(t, url, postgres.MaxStretches)
	all := calls(s)
	delete(all, "EraseClicks") // of this very link
	ctx := guard(t)
	for name, call := range all {
		if err := call(ctx); errors.Is(err, link.ErrUnavailable) {
			t.Errorf("%s beside stretches that are stuck: %v", name, err)
		}
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Errorf("rollback: %v", err)
	}
	wg.Wait()
	if got := total(t, s, url, id); got != 5*postgres.MaxStretches {
		t.Errorf("%d clicks, want %d", got, 5*postgres.MaxStretches)
	}
}

func TestOrphansAreCountedByHourAndRegion(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	hour := click.HourOf(noon(0).UnixMicro())
	for i, st := range []*click.Stretch{
		{Boot: "a", Region: "eu", Orphans: []click.HourCount{{Hour: hour - 1, Count: 3}, {Hour: hour, Count: 4}}},
		{Boot: "b", Region: "eu", Orphans: []click.HourCount{{Hour: hour, Count: 5}}},
		{Boot: "c", Region: "us", Orphans: []click.HourCount{{Hour: hour, Count: 6}}},
	} {
		st.To = 1
		apply(t, s, st)
		if mark, applied, err := s.ApplyStretch(t.Context(), st); err != nil || applied || mark != 1 {
			t.Errorf("stretch %d again: mark %d, applied %v, %v", i, mark, applied, err)
		}
	}
	r := clicks.Range{From: noon(0).Add(-time.Hour), To: noon(0).Add(time.Hour)}
	got, err := s.Orphans(t.Context(), r)
	want := "[{" + fmt.Sprint(noon(0).Add(-time.Hour)) + " eu 3} {" + fmt.Sprint(noon(0)) + " eu 9} {" + fmt.Sprint(noon(0)) + " us 6}]"
	if err != nil || fmt.Sprint(got) != want {
		t.Errorf("orphans %v, %v, want %s", got, err, want)
	}
	r.From = noon(0)
	r.To = noon(0)
	if got, err := s.Orphans(t.Context(), r); err != nil || len(got) != 0 {
		t.Errorf("orphans of no time: %v, %v", got, err)
	}
}
