package clicks

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"waypost/shared/click"
)

// late is how long a send that was not answered may still arrive: the edge gives
// it up after sendTimeout, the origin after twice that, and some to spare. Before
// that nothing is taken out of a log: it might count after all.
const late = time.Minute

// errEmpty reports that an origin refuses what has no clicks: it would not let
// the mark pass either.
var errEmpty = errors.New("an empty stretch is refused")

// refusals tell what origins do not take from what has not got through.
type refusals struct {
	times  int       // in a row, of the same stretch
	why    error     // the last time
	silent time.Time // when a send was not answered for the last time
}

// saw notes what became of a send that was in vain.
func (r *refusals) saw(err error, now time.Time) {
	if !errors.Is(err, click.ErrRefused) {
		r.silent = now
		return
	}
	r.times++
	r.why = err
}

// again forgets what was refused: another stretch is in its place.
func (r *refusals) again() { r.times, r.why = 0, nil }

// final says that there is no use in sending it once more.
func (r *refusals) final(now time.Time) bool {
	return r.times >= tries && now.Sub(r.silent) >= late
}

// tooLong says that a shorter stretch is to take the place of the one that was
// sent. One that is refused is made shorter until nothing but what is refused is
// left of it.
func (s *shipper) tooLong(src *source) bool {
	p := src.sent
	return !p.least && (src.refusals.times > 0 || p.fails >= tries && len(p.bytes) > s.least)
}

// hopeless says that the stretch at the mark is refused for good, that there is no
// shorter one, and that the mark is there still.
func (s *shipper) hopeless(src *source) bool {
	return src.known && !src.doubt && src.held == nil && src.refusals.final(s.now()) &&
		(len(src.stored) > 0 || src.sent != nil && src.sent.least)
}

// isolate takes the stretch at the mark out of its log, into quarantine.
func (s *shipper) isolate(src *source) error {
	p, bytes, err := s.atMark(src)
	if err != nil {
		return err
	}
	if err := s.quarantine.hold(p, bytes); err != nil {
		return err
	}
	s.stats.refused.Add(p.clicks)
	s.quarantine.logger.Error("stretch of clicks refused, and put into quarantine",
		slog.String("boot", p.boot), slog.Uint64("from", p.from), slog.Uint64("to", p.to),
		slog.Uint64("clicks", p.clicks), slog.Any("error", src.refusals.why))
	src.held = &p
	src.refusals.again()
	if src.sent != nil { // its end stays one at which the mark may stand
		src.longer = slices.Insert(src.longer, 0, &parcel{from: src.sent.from, to: src.sent.to})
		src.sent = nil
	}
	return nil
}

// atMark is the stretch that is refused: the first one that is stored, or the one
// that was sent.
func (s *shipper) atMark(src *source) (p stored, bytes []byte, err error) {
	if len(src.stored) == 0 {
		sent := src.sent
		p = stored{boot: src.boot, from: sent.from, to: sent.to, clicks: sent.clicks}
		return p, sent.bytes, checkEmpty(sent.clicks, sent.bytes)
	}
	p = src.stored[0]
	if p.aside || p.from != src.mark {
		return p, nil, errEmpty // as it was sent
	}
	stretch, err := s.shelf.read(p)
	if err != nil {
		return p, nil, err
	}
	p.clicks = stretch.Clicks()
	return p, stretch.Append(nil), nil
}

// checkEmpty is errEmpty for a stretch without anything.
func checkEmpty(clicks uint64, bytes []byte) error {
	stretch, err := click.ParseStretch(bytes)
	if clicks == 0 && err == nil && len(stretch.Orphans) == 0 {
		return errEmpty
	}
	return nil
}

// void is what goes out in the place of what is held, to let the mark pass it.
func (s *shipper) void(src *source) *parcel {
	p := seal(src, src.mark, src.held.to, &click.Stretch{}, false)
	p.full = true
	return p
}

// release is for what is held once the mark has passed it.
func (s *shipper) release(src *source) error {
	if src.held == nil || !src.known || src.mark < src.held.to {
		return nil
	}
	if err := s.quarantine.keep(*src.held); err != nil {
		return err
	}
	src.held = nil
	return nil
}

// holds says that a stored stretch is, or is a part of, what is held.
func (s *source) holds(p stored) bool {
	return s.held != nil && p.from >= s.held.from && p.to <= s.held.to
}

// isolateMemory takes the stretch that memory has sent out of it. Without a folder to
// put it into it is lost, as all that memory has no place for.
func (s *shipper) isolateMemory() error {
	p := s.memory.parcel
	if checkEmpty(p.clicks, p.bytes) != nil {
		return errEmpty
	}
	at := stored{boot: s.memory.boot, from: p.from, to: p.to}
	err := s.quarantine.hold(at, p.bytes)
	switch {
	case errors.Is(err, errNoQuarantine):
		s.memory.lost.Add(p.clicks)
	case err != nil:
		return err
	default:
		s.stats.refused.Add(p.clicks)
		err = s.quarantine.keep(at) // nobody else can send it: nothing is to be waited for
	}
	s.quarantine.logger.Error("stretch of clicks refused, and taken out of memory",
		slog.Uint64("clicks", p.clicks), slog.Any("error", s.memory.refusals.why))
	s.memory.refusals.again()
	s.memory.empty()
	if err != nil && !errors.Is(err, errNoQuarantine) {
		return fmt.Errorf("refused stretch of memory: %w", err)
	}
	return nil
}
