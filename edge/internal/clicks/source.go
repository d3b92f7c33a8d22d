package clicks

import (
	"time"

	"waypost/edge/internal/clicks/spool"
	"waypost/shared/click"
)

// source is one boot's log on its way to the origin: first the stretches that
// stand in files of their own, then what is in the spool still. The origin's
// mark says how far it is; what was thought here before an answer counts for
// nothing. Only the shipper's goroutine uses it.
type source struct {
	boot, region string
	log          *spool.Log // nil: stored stretches are all that is left of it
	own          bool       // of this process: nobody else has ever sent of it

	mark  uint64
	known bool // the mark; false until the origin has said it
	mine  bool // the mark was moved to where it is by this process
	doubt bool // the last send was not answered: ask before sending as much again
	last  bool // the origin has heard where the log ends

	stored []stored  // ascending, one begins where the other ends
	sent   *parcel   // out of the spool and not answered: it goes out again as it is
	longer []*parcel // that were sent from the mark before it, and not answered; ascending, without their bytes
	ahead  uint64    // how far voids were looked for when the log was last added up
	first  int64     // time of the oldest click that is not shipped, if known; 0: none
	ends   ends

	refusals refusals // of what is at the mark
	held     *stored  // in quarantine: nothing but an empty stretch lets the mark pass it

	reading, refusing trouble
}

// tail is where the spool takes over from the stored stretches.
func (s *source) tail() uint64 {
	if n := len(s.stored); n > 0 {
		return max(s.mark, s.stored[n-1].to)
	}
	return s.mark
}

// unanswered are the parcels of which one may have moved the origin's mark.
func (s *source) unanswered() []*parcel {
	if s.sent == nil {
		return s.longer
	}
	return append([]*parcel{s.sent}, s.longer...)
}

// bound is the first offset beyond another one at which a stored stretch has to
// end, since the mark may come to stand there; not ok if there is none.
func (s *source) bound(from uint64) (at uint64, ok bool) {
	ends := make([]uint64, 0, len(s.longer)+2)
	for _, sent := range s.longer {
		ends = append(ends, sent.to)
	}
	if s.held != nil {
		ends = append(ends, s.held.from, s.held.to)
	}
	for _, end := range ends {
		if end > from && (!ok || end < at) {
			at, ok = end, true
		}
	}
	return at, ok
}

// limit is how far the log may be added up: to the end, but the own one only to
// where it ended a grace ago, so that the voids of its clicks are there.
func (s *source) limit(now time.Time, grace time.Duration) uint64 {
	switch {
	case s.log == nil:
		return 0
	case s.own && grace > 0:
		return s.ends.before(now.Add(-grace))
	default:
		return s.log.End()
	}
}

// complete says that the log of an earlier process ends at or before an offset.
func (s *source) complete(at uint64) bool {
	return !s.own && (s.log == nil || s.log.Final() && at >= s.log.End())
}

// finished says that the origin has everything and knows that it has.
func (s *source) finished() bool {
	return s.last && len(s.stored) == 0 && s.complete(s.mark)
}

// behind is how many bytes of the log the origin has not got.
func (s *source) behind() (n int64) {
	for _, p := range s.stored {
		n += p.bytes
	}
	if s.log == nil {
		return n
	}
	if from, end := max(s.tail(), s.log.Start()), s.log.End(); from < end {
		n += int64(end - from) //nolint:gosec // a size on disk
	}
	return n
}

// bytes is what it takes on disk.
func (s *source) bytes() (n int64) {
	for _, p := range s.stored {
		n += p.bytes
	}
	if s.log != nil {
		n += s.log.Bytes()
	}
	return n
}

// question is an empty stretch, which asks for the mark.
func (s *source) question() *parcel {
	q := click.Stretch{Boot: s.boot, Region: s.region, From: s.mark, To: s.mark}
	return &parcel{from: s.mark, to: s.mark, bytes: q.Append(nil)}
}

// ends remembers where the own log ended at which time, for as long as it takes
// to find out where it ended a grace ago.
type ends struct {
	noted []end
}

type end struct {
	at     time.Time
	offset uint64
}

// endsEvery is how far apart two notes are at least.
const endsEvery = 20 * time.Millisecond

func (e *ends) note(now time.Time, offset uint64) {
	if n := len(e.noted); n == 0 || now.Sub(e.noted[n-1].at) >= endsEvery {
		e.noted = append(e.noted, end{now, offset})
	}
}

// before is where the log ended at a time or not long before, 0 if that is not
// known. Times must not go back.
func (e *ends) before(at time.Time) (offset uint64) {
	for len(e.noted) > 1 && !e.noted[1].at.After(at) {
		e.noted = e.noted[1:]
	}
	if len(e.noted) > 0 && !e.noted[0].at.After(at) {
		return e.noted[0].offset
	}
	return 0
}
