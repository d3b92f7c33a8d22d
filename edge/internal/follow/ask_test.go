package follow

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/shared/feed"
)

// wire is a NATS connection to an origin.
type wire struct {
	mu        sync.Mutex
	origin    *center
	away      bool          // not connected
	refuse    error         // of requests
	silent    bool          // requests are swallowed
	delay     time.Duration // of answers
	requests  int
	failing   error // of Publish
	published []sentAck
}

type sentAck struct {
	subject string
	*feed.Ack
}

func (w *wire) set(change func(*wire)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
}

func (w *wire) IsConnected() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.away
}

func (w *wire) RequestWithContext(ctx context.Context, subject string, body []byte) (*nats.Msg, error) {
	w.mu.Lock()
	w.requests++
	refuse, silent, delay := w.refuse, w.silent, w.delay
	w.mu.Unlock()
	if refuse != nil {
		return nil, refuse
	}
	p, err := feed.ParseProbe(body)
	if err != nil || subject != "t.probe" {
		return nil, errors.Join(err, errors.New("no origin listens on "+subject))
	}
	if silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	h, err := w.origin.Probe(ctx, p)
	if err != nil {
		return nil, err
	}
	time.Sleep(delay)
	return &nats.Msg{Data: h.Append(nil)}, nil
}

func (w *wire) Publish(subject string, body []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failing != nil {
		return w.failing
	}
	a, err := feed.ParseAck(body)
	w.published = append(w.published, sentAck{subject, a})
	return err
}

func (w *wire) asked() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.requests
}

// overWire runs a test beside an edge that has NATS: web is its origin over
// HTTP, w.origin that over NATS, with the same history.
func overWire(t *testing.T, test func(t *testing.T, web *center, w *wire, e *edge)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		web := newCenter()
		w := &wire{origin: newCenter()}
		e := newEdge(web, feed.NewTable(slots, 1))
		e.asker.bus, e.acker.bus = w, w
		e.run(t)
		e.at(t, 0, 1, 5)
		w.set(func(w *wire) { w.published = nil }) // the config's acknowledgement
		test(t, web, w, e)
		e.end(t)
	})
}

func TestProbesGoOverNATSAlone(t *testing.T) {
	overWire(t, func(t *testing.T, web *center, w *wire, e *edge) {
		t.Helper()
		time.Sleep(10 * probeEvery)
		e.leased(t, 0, w.origin.last())
		if web.probed() != 0 || w.asked() < 10 {
			t.Errorf("got %d probes over HTTP and %d over NATS, want none and 10 or more", web.probed(), w.asked())
		}
	})
}

func TestWhatNATSRefusesGoesOverHTTPAtOnce(t *testing.T) {
	overWire(t, func(t *testing.T, web *center, w *wire, e *edge) {
		t.Helper()
		for name, broken := range map[string]func(*wire){
			"no origin listens":  func(w *wire) { w.away, w.refuse = false, nats.ErrNoResponders },
			"it is disconnected": func(w *wire) { w.away = true },
		} {
			w.set(broken)
			time.Sleep(probeEvery)
			before := web.probed()
			for range 10 {
				time.Sleep(probeEvery)
				e.leased(t, 0, web.last())
			}
			if got := web.probed() - before; got != 10 {
				t.Errorf("%s: got %d probes over HTTP, want 10", name, got)
			}
		}
	})
}

func TestASilentNATSCostsNoLease(t *testing.T) {
	overWire(t, func(t *testing.T, web *center, w *wire, e *edge) {
		t.Helper()
		time.Sleep(probeEvery)
		w.set(func(w *wire) { w.silent = true })
		most := probeEvery + nearby + tick
		for i := range 1000 {
			time.Sleep(tick)
			synctest.Wait()
			if age := e.LeaseAge(); age > most {
				t.Fatalf("after %v the lease is %v old, want at most %v", time.Duration(i)*tick, age, most)
			}
			if i == 100 {
				most = probeEvery + tick // by now nobody waits for NATS any more
			}
		}
		e.leased(t, 0, web.last())
		w.set(func(w *wire) { w.silent = false })
		time.Sleep(2 * probeTimeout)
		before := web.probed()
		time.Sleep(10 * probeEvery)
		if got := web.probed(); got != before {
			t.Errorf("got %d probes over HTTP after NATS was back, want none", got-before)
		}
	})
}

func TestAFarNATSIsGivenItsTime(t *testing.T) {
	overWire(t, func(t *testing.T, web *center, w *wire, _ *edge) {
		t.Helper()
		w.set(func(w *wire) { w.delay = 80 * time.Millisecond })
		time.Sleep(5 * probeEvery)
		before := web.probed()
		time.Sleep(10 * probeEvery)
		if got := web.probed(); got != before {
			t.Errorf("got %d probes over HTTP beside a NATS that answers, want none", got-before)
		}
	})
}

func TestWithoutAnyWayThereIsNoLease(t *testing.T) {
	overWire(t, func(t *testing.T, web *center, w *wire, e *edge) {
		t.Helper()
		time.Sleep(probeEvery)
		synctest.Wait()
		last := w.origin.last()
		w.set(func(w *wire) { w.silent = true })
		web.set(func(c *center) { c.down = errDown })
		time.Sleep(10 * time.Second)
		e.leased(t, 0, last)
		w.set(func(w *wire) { w.silent, w.refuse = false, nats.ErrNoResponders })
		time.Sleep(probeTimeout)
		h, err := e.asker.ask(t.Context(), e.standing())
		if h != nil || !errors.Is(err, errDown) || !errors.Is(err, nats.ErrNoResponders) {
			t.Errorf("got %v, %v, want the faults of both ways", h, err)
		}
		web.set(func(c *center) { c.down = nil })
		time.Sleep(probeEvery + tick)
		e.leased(t, 0, web.last())
	})
}
