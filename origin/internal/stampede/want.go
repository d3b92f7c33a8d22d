package stampede

import (
	"waypost/shared/feed"
	"waypost/shared/link"
)

// want is what a caller asked for. Only callers who want the same share a
// flight.
type want struct {
	key    link.Key
	epoch  uint64
	minSeq uint64
	serial uint64 // not 0: a flight that nobody may join
}

// positionBytes is the length of an entry's head: format byte, epoch and
// position, big-endian at fixed offsets (feed.Entry.Append).
const positionBytes = 1 + 8 + 8

// position is the head of the least entry that would do, for the script that
// compares it with the one of a result.
func (w want) position() []byte {
	e := feed.Entry{Epoch: w.epoch, AsOf: w.minSeq}
	return e.Append(nil)[:positionBytes]
}

// reached reports whether an entry somebody else loaded will do: positions
// compare as (epoch, seq).
func (w want) reached(e *feed.Entry) bool {
	if e.Key != w.key {
		return false
	}
	return e.Epoch > w.epoch || e.Epoch == w.epoch && e.AsOf >= w.minSeq
}

// behind reports whether an entry just loaded is older than what the caller
// knows to exist in the same epoch. That is a PostgreSQL that lost commits, and
// no answer until the epoch says so.
func (w want) behind(e *feed.Entry) bool {
	return e.Epoch == w.epoch && e.AsOf < w.minSeq
}
