package clicks

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"waypost/edge/internal/clicks/spool"
	"waypost/shared/click"
)

func TestEveryClickCountsOnceWhateverTheOriginAnswers(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(bad bool) (apply int, err error){
		"lost before it arrived": func(bad bool) (int, error) {
			if bad {
				return 0, errLost
			}
			return 1, nil
		},
		"killed between commit and answer":   func(bad bool) (int, error) { return 1, errIf(bad) },
		"arrived twice":                      func(bool) (int, error) { return 2, nil },
		"arrived twice and was not answered": func(bad bool) (int, error) { return 2, errIf(bad) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, want := newOrigin(t), make(sums)
			rng := rand.New(rand.NewPCG(1, 1))
			o.fault = func([]byte) (int, error) { return fault(rng.IntN(2) == 0) }
			e := startEdge(t, t.TempDir(), o, newClock(), nil)
			for n := range 300 {
				e.count(want, visit(uint64(n%3), n))
				if n%10 == 0 {
					e.round(t.Context())
				}
			}
			e.settle(t)
			o.same(t, want)
		})
	}
}

func errIf(lost bool) error {
	if lost {
		return errLost
	}
	return nil
}

func TestALateRequestChangesNothing(t *testing.T) {
	t.Parallel()
	o, want := newOrigin(t), make(sums)
	var late [][]byte
	rng := rand.New(rand.NewPCG(2, 2))
	o.fault = func(b []byte) (int, error) {
		if late = append(late, b); rng.IntN(2) == 0 {
			return 0, errLost
		}
		return 1, nil
	}
	e := startEdge(t, t.TempDir(), o, newClock(), nil)
	for n := range 200 {
		e.count(want, visit(1, n))
		if n%20 == 0 {
			e.round(t.Context())
		}
	}
	e.settle(t)
	for i := range late { // the last one first
		o.apply(late[len(late)-1-i])
	}
	o.same(t, want)
}

func TestAProcessGoesOnFromTheMarkOfTheOneBefore(t *testing.T) {
	t.Parallel()
	for name, apply := range map[string]int{"applied": 1, "not applied": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
			o.fault = func([]byte) (int, error) { return apply, errLost }
			e := startEdge(t, dir, o, clock, nil)
			e.count(want, visit(1, 1))
			e.round(t.Context())
			e.count(want, visit(1, 2)) // the next process may send a longer stretch than was sent
			boot := e.shipper.own().boot
			e.stop()

			o.fault = nil
			e = startEdge(t, dir, o, clock, nil)
			e.count(want, visit(1, 3))
			e.settle(t)
			o.same(t, want)
			if !o.ended[boot] {
				t.Error("the origin has not heard that the log has ended")
			}
			if logs := e.spool.Logs(); len(logs) != 1 {
				t.Errorf("got %d logs, want the own one", len(logs))
			}
		})
	}
}

func TestTwoSendersOfOneLogCountOnce(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	e := startEdge(t, dir, o, clock, nil)
	for n := range 2_000 {
		e.count(want, visit(uint64(n%5), n))
	}
	e.stop()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	senders := []*edge{startEdge(t, dir, o, clock, nil), startEdge(t, copied, o, clock, nil)}
	bytes := 1_000
	for len(senders[0].shipper.sources)+len(senders[1].shipper.sources) > 2 {
		for _, e := range senders {
			src := e.shipper.sources[0]
			if src.own {
				continue
			}
			bytes += 700 // no two stretches end at the same offset
			src.sent = nil
			limit := src.limit(clock.at, 0)
			if src.known && src.mark < limit {
				p, err := e.shipper.add(src, src.mark, limit, most{bytes: bytes})
				if err != nil {
					t.Fatal(err)
				}
				src.sent = p
			}
			e.round(t.Context())
		}
	}
	o.same(t, want)
}

func TestAnEdgeWithAWipedDiskStartsAnew(t *testing.T) {
	t.Parallel()
	o, want, clock := newOrigin(t), make(sums), newClock()
	for range 2 {
		e := startEdge(t, t.TempDir(), o, clock, nil)
		e.count(want, visit(1, 1))
		e.settle(t)
	}
	o.same(t, want)
}

func TestALogShorterThanTheMarkIsDoneWith(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	e := startEdge(t, dir, o, clock, nil)
	for n := range 100 {
		e.count(want, visit(1, n))
	}
	e.settle(t)
	own := e.shipper.own()
	boot, mark := own.boot, own.mark
	e.stop()
	segments, err := filepath.Glob(filepath.Join(dir, "spool", boot, "*.clicks"))
	if err != nil || len(segments) == 0 {
		t.Fatalf("got segments %v, %v", segments, err)
	}
	// The end did not survive a loss of power.
	if err := os.Truncate(segments[len(segments)-1], 200); err != nil {
		t.Fatal(err)
	}
	e = startEdge(t, dir, o, clock, nil)
	if end := e.shipper.sources[0].log.End(); end >= mark {
		t.Fatalf("the log ends at %d, not before the mark %d", end, mark)
	}
	e.count(want, visit(1, 200))
	e.settle(t)
	o.same(t, want)
	if !o.ended[boot] {
		t.Error("the origin has not heard that the log has ended")
	}
}

func TestAMarkBehindTheLogsBeginningIsPassed(t *testing.T) {
	t.Parallel()
	o, want := newOrigin(t), make(sums)
	e := startEdge(t, t.TempDir(), o, newClock(), func(files *spool.Config, _ *Config) { files.SegmentBytes = 1 << 10 })
	for n := range 100 {
		e.count(want, visit(1, n))
	}
	e.settle(t)
	if e.shipper.own().log.Start() == 0 {
		t.Fatal("no segment was dropped")
	}
	o.marks[e.shipper.own().boot] = 0 // restored from a copy, but for its counts
	for n := range 100 {
		e.count(want, visit(2, n))
	}
	e.settle(t)
	for key := range want {
		if len(key) < 6 || key[:6] != "link 2" {
			continue
		}
		if o.applied[key] != want[key] {
			t.Errorf("%s: got %d, want %d", key, o.applied[key], want[key])
		}
	}
	if e.Stats().Missing == 0 {
		t.Error("got nothing missing")
	}
}

func TestAnOldLogDoesNotKeepTheOwnOneWaiting(t *testing.T) {
	t.Parallel()
	o, dir, clock := newOrigin(t), t.TempDir(), newClock()
	for range 5 {
		e := startEdge(t, dir, o, clock, nil)
		e.Count(visit(1, 1))
		e.stop()
	}
	e := startEdge(t, dir, o, clock, nil)
	e.Count(visit(2, 1))
	e.round(t.Context())
	var first string
	for i, b := range o.bodies {
		s, err := click.ParseStretch(b)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = s.Boot
		}
	}
	if own := e.shipper.own().boot; first != own {
		t.Errorf("the first stretch is of %s, want of the own log %s", first, own)
	}
	if len(o.ended) != 5+1 {
		t.Errorf("got %d logs in the first round, want the own one and 5 old ones", len(o.ended))
	}
}

func TestAnOriginThatFailsIsAskedAShortQuestionAfterAPause(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	sends, down := [][]byte{}, true
	o.fault = func(b []byte) (int, error) {
		sends = append(sends, b)
		if down {
			return 0, errLost
		}
		return 1, nil
	}
	e := startEdge(t, t.TempDir(), o, newClock(), nil)
	for n := range 500 {
		e.Count(visit(uint64(n), n))
	}
	e.round(t.Context())
	e.shipper.round(t.Context()) // no time has passed
	if len(sends) != 1 {
		t.Fatalf("got %d sends, want 1 before the pause is over", len(sends))
	}
	for range 20 {
		e.round(t.Context())
	}
	for i, b := range sends[1:] {
		if s, err := click.ParseStretch(b); err != nil || s.From != s.To || len(s.Links) > 0 {
			t.Errorf("send %d: got %d bytes, %v, want a question", i+1, len(b), err)
		}
	}
	if got := e.shipper.retry.Sub(e.clock.at); got > longPause {
		t.Errorf("got a pause of %v", got)
	}
	if got := e.Stats().Behind; got < time.Minute {
		t.Errorf("got %v behind", got)
	}
	down = false
	e.settle(t)
	if got := o.applied["link 7"]; got != 1 {
		t.Errorf("got %d clicks, want 1", got)
	}
	if s := e.Stats(); s.Behind != 0 || s.BehindSize != 0 {
		t.Errorf("got %+v behind", s)
	}
}

func TestAnOriginThatAppliesNothingIsNotAskedWithoutAPause(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	sends := 0
	o.fault = func([]byte) (int, error) { sends++; return 0, nil } // always answers mark 0
	e := startEdge(t, t.TempDir(), o, newClock(), nil)
	e.Count(visit(1, 1))
	for range 10 {
		e.round(t.Context())
	}
	if sends > 10 {
		t.Errorf("got %d sends in 10 rounds", sends)
	}
}

func TestTheSameVisitorAtTwoEdgesCountsOnce(t *testing.T) {
	t.Parallel()
	o, clock := newOrigin(t), newClock()
	for range 2 {
		e := startEdge(t, t.TempDir(), o, clock, nil)
		for n := range 500 {
			r := visit(1, n)
			r.At, r.Bot = 1_790_000_000_000_000, false
			e.Count(r)
			e.Count(r)
		}
		e.settle(t)
	}
	key := fmt.Sprint("link 1 day ", click.DayOf(click.HourOf(1_790_000_000_000_000)))
	if got := o.visitors[key].Count(); got != 500 {
		t.Errorf("got %d visitors, want 500", got)
	}
}

func TestTheNewestClicksAreKeptNewestFirst(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	e := startEdge(t, t.TempDir(), o, newClock(), nil)
	for n := range 30 {
		e.Count(visit(1, n))
	}
	e.settle(t)
	newest := o.newest[1]
	if len(newest) != click.MaxNewest {
		t.Fatalf("got %d, want %d", len(newest), click.MaxNewest)
	}
	for i, c := range newest {
		want := visit(1, 29-i)
		if c.At != want.At || c.Referrer != want.Referrer || c.Country != want.Country || c.Region != "eu" ||
			c.Device != want.Device.String() || c.Browser != want.Browser.String() || c.OS != want.OS.String() || c.Bot != want.Bot {
			t.Errorf("click %d: got %+v, want %+v", i, c, want)
		}
	}
}

func TestALogWhoseEndCannotBeReadNowIsNotDoneWith(t *testing.T) {
	t.Parallel()
	o, want, dir, clock := newOrigin(t), make(sums), t.TempDir(), newClock()
	e := startEdge(t, dir, o, clock, nil)
	for n := range 300 {
		e.count(want, visit(1, n))
	}
	boot := e.shipper.own().boot
	e.stop()
	segments, err := filepath.Glob(filepath.Join(dir, "spool", boot, "*.clicks"))
	if err != nil || len(segments) < 2 {
		t.Fatalf("got segments %v, %v", segments, err)
	}
	last := segments[len(segments)-1]
	e = startEdge(t, dir, o, clock, nil)
	// A folder in the place of a file can be opened and not be read.
	if err := errors.Join(os.Rename(last, last+".away"), os.Mkdir(last, 0o700)); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		e.round(t.Context())
	}
	if got := o.applied["link 1"]; got == 0 || got == 300 || o.ended[boot] {
		t.Errorf("got %d clicks, ended %t, want those before the last segment", got, o.ended[boot])
	}
	if err := errors.Join(os.Remove(last), os.Rename(last+".away", last)); err != nil {
		t.Fatal(err)
	}
	e.settle(t)
	o.same(t, want)
}

func TestOnlyWhatRunsOutOfTimeMakesStretchesShorter(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	o := newOrigin(t)
	s := &shipper{origin: o, now: func() time.Time { return now }, bytes: 1 << 20, least: 64 << 10}
	p := &parcel{to: 8, bytes: (&click.Stretch{Boot: "boot", Region: "eu", To: 8}).Append(nil)}
	for _, c := range []struct {
		name  string
		after time.Duration
		err   error
		want  int
	}{
		{"an origin that has too much to do", 0, errLost, 1 << 20},
		{"one that says so late", sendTimeout / 4, errLost, 1 << 20},
		{"no answer in time", sendTimeout, errLost, 1 << 19},
		{"again", sendTimeout / 2, errLost, 1 << 18},
		{"an answer, however late", sendTimeout, nil, 1 << 19},
		{"a quick one", 0, nil, 1 << 20},
	} {
		o.fault = func([]byte) (int, error) {
			now = now.Add(c.after)
			return 1, c.err
		}
		if _, err := s.send(t.Context(), p); !errors.Is(err, c.err) {
			t.Fatalf("%s: %v", c.name, err)
		}
		if s.bytes != c.want {
			t.Errorf("%s: stretches of %d bytes, want %d", c.name, s.bytes, c.want)
		}
	}
}
