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
