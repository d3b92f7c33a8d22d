package visitor

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"slices"
	"sync/atomic"

	"waypost/shared/feed"
)

// salts holds the days' salts as the origin hands them out, in memory alone.
// Safe for concurrent use.
type salts struct {
	held    atomic.Pointer[[]feed.Salt]
	missing atomic.Uint64 // visitors whose day had no salt
}

// learn takes the salts of an answer; those of other days are forgotten. An
// answer without any (of an origin that has none yet) changes nothing.
func (s *salts) learn(given []feed.Salt) {
	if len(given) == 0 {
		return
	}
	if held := s.held.Load(); held != nil && slices.Equal(*held, given) {
		return
	}
	kept := slices.Clone(given)
	s.held.Store(&kept)
}

// visitor is the mark by which one visitor's clicks of a day are known as one
// visitor's: the first 8 bytes, never 0, of SHA-256(salt ‖ address ‖ digest of
// the agent). Once the day's salt is gone nobody can tell whose it was. now is in
// microseconds since 1970; 0 where its day has no salt.
func (s *salts) visitor(now int64, address netip.Addr, agent digest) uint64 {
	held := s.held.Load()
	if held == nil {
		s.missing.Add(1)
		return 0
	}
	day := feed.Day(now)
	for i := range *held {
		if salt := &(*held)[i]; salt.Day == day {
			return mark(&salt.Key, address, agent)
		}
	}
	if (*held)[len(*held)-1].Day < day { // cut off from the origin beyond the end of the last day
		s.held.CompareAndSwap(held, nil)
	}
	s.missing.Add(1)
	return 0
}

const (
	addressBytes = 16
	// SHA-256 works in blocks and needs 9 bytes for the message's end (FIPS 180-4
	// §5.1.1): what a mark is made of fills one block.
	digestBytes = sha256.BlockSize - 9 - feed.SaltSize - addressBytes
)

// digest stands for an agent in a visitor's mark: the first bytes of its
// SHA-256. It is made once for each agent, not for each click. Among a million
// agents two have the same one by a chance of 1 in 100,000.
type digest [digestBytes]byte

func digestOf(agent string) (d digest) {
	sum := sha256.Sum256([]byte(agent))
	copy(d[:], sum[:])
	return d
}

func mark(key *[feed.SaltSize]byte, address netip.Addr, agent digest) uint64 {
	var text [feed.SaltSize + addressBytes + digestBytes]byte
	from := address.As16()
	copy(text[:], key[:])
	copy(text[feed.SaltSize:], from[:])
	copy(text[feed.SaltSize+addressBytes:], agent[:])
	sum := sha256.Sum256(text[:])
	return max(binary.BigEndian.Uint64(sum[:]), 1)
}
