package clicks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"waypost/edge/internal/clicks/spool"
	"waypost/shared/click"
)

var errLost = errors.New("lost on the way")

// sums are counts by what is counted, such as "link 3 referrer a.example".
type sums map[string]uint64

func (s sums) click(r *click.Record, region string) {
	link := fmt.Sprint("link ", r.Link)
	for _, part := range []string{
		"", " region " + region, " referrer " + r.Referrer, " country " + r.Country, " language " + r.Language,
		" device " + r.Device.String(), " browser " + r.Browser.String(), " os " + r.OS.String(),
		fmt.Sprint(" hour ", click.HourOf(r.At)),
	} {
		s[link+part]++
	}
	if r.Bot {
		s[link+" bots"]++
	}
}

// fakeOrigin applies stretches as an origin does: in one step, if its mark is
// where they begin. Faults may lose, repeat and delay what is sent to it.
type fakeOrigin struct {
	t *testing.T

	mu       sync.Mutex
	marks    map[string]uint64
	applied  sums
	visitors map[string]*click.Sketch // link and day
	newest   map[uint64][]click.Recent
	ended    map[string]bool
	bodies   [][]byte // all that have arrived
	fault    func(stretch []byte) (apply int, err error)
}

func newOrigin(t *testing.T) *fakeOrigin {
	t.Helper()
	return &fakeOrigin{
		t: t, marks: make(map[string]uint64), applied: make(sums),
		visitors: make(map[string]*click.Sketch), newest: make(map[uint64][]click.Recent), ended: make(map[string]bool),
	}
}

// Clicks implements origin.
func (o *fakeOrigin) Clicks(_ context.Context, stretch []byte) (uint64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	times, err := 1, error(nil)
	if o.fault != nil {
		times, err = o.fault(stretch)
	}
	var mark uint64
	for range times {
		mark = o.apply(stretch)
	}
	return mark, err
}

func (o *fakeOrigin) apply(b []byte) uint64 {
	o.bodies = append(o.bodies, b)
	s, err := click.ParseStretch(b)
	if err != nil {
		o.t.Errorf("the origin cannot read a stretch: %v", err)
		return 0
	}
	if o.marks[s.Boot] != s.From {
		return o.marks[s.Boot]
	}
	o.marks[s.Boot] = s.To
	o.ended[s.Boot] = o.ended[s.Boot] || s.Last
	for i := range s.Links {
		o.link(&s.Links[i])
	}
	for _, c := range s.Orphans {
		o.applied[fmt.Sprint("orphans ", c.Hour)] += c.Count
	}
	return s.To
}

func (o *fakeOrigin) link(l *click.LinkClicks) {
	name := fmt.Sprint("link ", l.Link)
	for i := range l.Hours {
		h := &l.Hours[i]
		o.applied[name] += h.Clicks
		o.applied[fmt.Sprint(name, " hour ", h.Hour)] += h.Clicks
		if h.Bots > 0 {
			o.applied[name+" bots"] += h.Bots
		}
		for _, p := range h.Parts {
			o.applied[name+" "+p.Dimension.String()+" "+p.Value] += p.Clicks
		}
	}
	for i := range l.Days {
		key := fmt.Sprint(name, " day ", l.Days[i].Day)
		if o.visitors[key] == nil {
			o.visitors[key] = new(click.Sketch)
		}
		o.visitors[key].Merge(&l.Days[i].Visitors)
	}
	o.newest[l.Link] = append(l.Newest, o.newest[l.Link]...)
}

// same compares what was applied with what was counted.
func (o *fakeOrigin) same(t *testing.T, want sums) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if maps.Equal(o.applied, want) {
		return
	}
	for key, n := range want {
		if o.applied[key] != n {
			t.Errorf("%s: got %d, want %d", key, o.applied[key], n)
		}
	}
	for key, n := range o.applied {
		if want[key] == 0 {
			t.Errorf("%s: got %d, want none", key, n)
		}
	}
}

// edge is a counter on a real spool, whose rounds a test makes by itself.
type edge struct {
	*Counter
	spool *spool.Spool
	stop  func()
	clock *fakeClock
}

// fakeClock is this machine's clock, moved by hand.
type fakeClock struct{ at time.Time }

func newClock() *fakeClock { return &fakeClock{time.Unix(1_790_000_000, 0)} }

func (c *fakeClock) now() time.Time { return c.at }

// startEdge opens the spool and the counter of one process. Its end leaves all
// as a kill would, once everything is written.
func startEdge(t *testing.T, dir string, o origin, clock *fakeClock, change func(*spool.Config, *Config)) *edge {
	t.Helper()
	files := spool.Config{Dir: filepath.Join(dir, "spool"), Label: "eu", SegmentBytes: 8 << 10, Limit: time.Minute}
	cfg := Config{
		Origin: o, Folder: filepath.Join(dir, "folded"), Quarantine: filepath.Join(dir, "quarantine"), Region: "eu",
		Clock: func() int64 { return clock.at.UnixMicro() }, Logger: slog.New(slog.DiscardHandler), now: clock.now,
	}
	if change != nil {
		change(&files, &cfg)
	}
	s, err := spool.Open(files)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Spool = s
	c := New(cfg)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	c.shipper.least = 1 << 10
	e := &edge{Counter: c, spool: s, clock: clock}
	e.stop = sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(<-done, s.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(e.stop)
	until(t, "the spool writes", func() bool { return !s.Stats().Stalled })
	return e
}

// round lets some seconds pass, so that what is in the spool may be shipped, and
// ships.
func (e *edge) round(ctx context.Context) {
	e.record()
	e.memory.compact()
	e.clock.at = e.clock.at.Add(time.Second)
	e.shipper.note()
	e.clock.at = e.clock.at.Add(4 * time.Second)
	e.shipper.round(ctx)
}

// settle makes rounds until all is shipped.
func (e *edge) settle(t *testing.T) {
	t.Helper()
	for range 1_000 {
		e.round(t.Context())
		s := e.Stats()
		if s.BehindSize == 0 && s.InMemory == 0 && len(e.shipper.sources) == 1 {
			return
		}
	}
	t.Fatalf("not all is shipped: %+v with %d logs", e.Stats(), len(e.shipper.sources))
}

// visit is some click of a link.
func visit(link uint64, n int) *click.Record {
	return &click.Record{
		At: 1_790_000_000_000_000 + int64(n)*1_000_000, Link: link, Version: 1, Status: 302,
		Visitor: uint64(n)*0x9e3779b97f4a7c15 | 1, Referrer: []string{"", "a.example", "b.example"}[n%3],
		Language: []string{"de", "fr"}[n%2], Country: []string{"", "DE", "FR", "BR"}[n%4],
		Device: click.Device(n % click.Devices), Browser: click.Browser(n % click.Browsers), OS: click.OS(n % click.Systems),
		Bot: n%7 == 0,
	}
}

// count counts a click at the edge and among what is wanted.
func (e *edge) count(want sums, r *click.Record) (ticket uint64) {
	ticket = e.Count(r)
	want.click(r, "eu")
	return ticket
}
