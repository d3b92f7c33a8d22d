package clicks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"waypost/edge/internal/clicks/spool"
	"waypost/shared/click"
)

// logOf is a log of payloads.
func logOf(t *testing.T, payloads ...[]byte) (log *spool.Log, at []uint64) {
	t.Helper()
	e := startEdge(t, t.TempDir(), newOrigin(t), newClock(), nil)
	for _, p := range payloads {
		offset, outcome := e.spool.Append(p)
		if outcome != spool.Written {
			t.Fatalf("got %s", outcome)
		}
		at = append(at, offset)
	}
	return e.shipper.own().log, at
}

func visits(from, to int) (payloads [][]byte) {
	for n := from; n < to; n++ {
		payloads = append(payloads, visit(1, n).Append(nil))
	}
	return payloads
}

func TestAStretchEndsAtItsBounds(t *testing.T) {
	t.Parallel()
	log, at := logOf(t, visits(0, 100)...)
	for name, c := range map[string]struct {
		limit  uint64
		bound  most
		clicks uint64
		full   bool
	}{
		"the end":    {math.MaxUint64, most{0, stretchBytes}, 100, false},
		"the limit":  {at[40], most{0, stretchBytes}, 40, false},
		"the clicks": {math.MaxUint64, most{30, stretchBytes}, 30, true},
		"the bytes":  {math.MaxUint64, most{0, sizeFixed + 1}, 1, true},
		"no bytes":   {math.MaxUint64, most{0, 0}, 1, true},
	} {
		b := newBuilder(nil)
		done, err := b.build(log, 0, c.limit, 0, c.bound)
		want := log.End()
		if c.clicks < 100 {
			want = at[c.clicks]
		}
		if err != nil || b.sum.clicks != c.clicks || done.full != c.full || done.to != want {
			t.Errorf("%s: got %d clicks up to %d, full %t, %v, want %d up to %d", name, b.sum.clicks, done.to, done.full, err, c.clicks, want)
		}
	}
}

func TestABuilderStartsEachStretchAnew(t *testing.T) {
	t.Parallel()
	var payloads [][]byte
	for n := range 60 {
		r := visit(uint64(n/20), n)
		r.Referrer = fmt.Sprintf("r%d.example", n)
		payloads = append(payloads, r.Append(nil))
	}
	payloads = append(payloads, click.HourCount{Hour: 5, Count: 2}.Append(nil))
	log, _ := logOf(t, payloads...)
	reused := newBuilder(nil)
	for from := uint64(0); from < log.End(); {
		bound := most{7, stretchBytes}
		got, err := reused.build(log, from, math.MaxUint64, 0, bound)
		if err != nil {
			t.Fatal(err)
		}
		fresh := newBuilder(nil)
		if _, err := fresh.build(log, from, math.MaxUint64, 0, bound); err != nil {
			t.Fatal(err)
		}
		a, b := reused.sum.stretch("eu"), fresh.sum.stretch("eu")
		if string(a.Append(nil)) != string(b.Append(nil)) {
			t.Fatalf("from %d: got %+v, want %+v", from, a, b)
		}
		from = got.to
	}
}

func TestWhatVisitorsMakeUpStaysWithinAStretch(t *testing.T) {
	t.Parallel()
	const clicks = 12_000 // a stretch and a part of one
	rng := rand.New(rand.NewPCG(1, 1))
	var payloads [][]byte
	for n := range clicks {
		r := visit(rng.Uint64(), n)
		r.At = rng.Int64() >> 7
		r.Visitor = rng.Uint64()
		r.Referrer = strings.Repeat(fmt.Sprintf("%08x", rng.Uint32()), 31)
		r.Language = fmt.Sprintf("%016x", rng.Uint64())
		payloads = append(payloads, r.Append(nil))
	}
	log, _ := logOf(t, payloads...)
	s := &shipper{builder: newBuilder(nil), stats: &counts{}}
	src := &source{boot: "b", region: "eu", log: log, own: true}
	var counted, stretches uint64
	for src.mark < log.End() {
		p, err := s.add(src, src.mark, log.End(), most{stretchClicks, stretchBytes})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.bytes) > click.MaxStretch {
			t.Errorf("got %d bytes", len(p.bytes))
		}
		counted += p.clicks
		stretches++
		src.mark = p.to
	}
	if counted != clicks || stretches < 2 {
		t.Errorf("got %d clicks in %d stretches, want %d in more than one", counted, stretches, clicks)
	}
}

func TestRecordsOfANewerVersionAreCountedAsUnreadable(t *testing.T) {
	t.Parallel()
	log, _ := logOf(t, visit(1, 1).Append(nil), []byte{99, 1, 2}, []byte{byte(click.KindClick)}, []byte{byte(click.KindOrphans)}, visit(1, 2).Append(nil))
	b := newBuilder(nil)
	done, err := b.build(log, 0, math.MaxUint64, 0, most{0, stretchBytes})
	if err != nil || b.sum.clicks != 2 || done.unreadable != 3 || done.to != log.End() {
		t.Errorf("got %d clicks and %+v, %v", b.sum.clicks, done, err)
	}
}

func TestAVoidFarBehindItsClickIsSeenWithinAChunk(t *testing.T) {
	t.Parallel()
	payloads := visits(0, 10_000)
	payloads = append(payloads, click.AppendVoid(nil, 0))
	log, _ := logOf(t, payloads...)
	b := newBuilder(nil)
	done, err := b.build(log, 0, math.MaxUint64, 0, most{10, stretchBytes})
	if err != nil || b.sum.clicks != 10 {
		t.Fatalf("got %d clicks, %v", b.sum.clicks, err)
	}
	next, err := b.build(log, done.to, math.MaxUint64, done.seen, most{0, stretchBytes})
	if err != nil || next.late != 0 || b.sum.clicks != 9_989 {
		t.Errorf("got %d clicks, %d late, %v, want the one void neither late nor counted", b.sum.clicks, next.late, err)
	}
}
