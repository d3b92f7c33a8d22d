package visitor

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"slices"
	"sync/atomic"

	"github.com/dchest/siphash"

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
// visitor's, never 0: SipHash-2-4, a pseudorandom function of 64 bits (Aumasson
// and Bernstein, 2012), of address and agent's digest under the salt. Once the
// day's salt is gone nobody can tell whose it was. now is in microseconds since
// 1970; 0 where its day has no salt.
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
	digestBytes  = 8
	keyBytes     = 16 // SipHash's
)

// digest stands for an agent in a visitor's mark: the first bytes of its
// SHA-256. It is made once for each agent, not for each click. Among a million
// agents two have the same one by a chance of 1 in 37 million.
type digest [digestBytes]byte

func digestOf(agent string) (d digest) {
	sum := sha256.Sum256([]byte(agent))
	copy(d[:], sum[:])
	return d
}

// mark uses the whole salt, though SipHash's key is half of it.
func mark(salt *[feed.SaltSize]byte, address netip.Addr, agent digest) uint64 {
	var text [feed.SaltSize - keyBytes + addressBytes + digestBytes]byte
	from := address.As16()
	n := copy(text[:], salt[keyBytes:])
	n += copy(text[n:], from[:])
	copy(text[n:], agent[:])
	return max(siphash.Hash(binary.LittleEndian.Uint64(salt[:8]), binary.LittleEndian.Uint64(salt[8:keyBytes]), text[:]), 1)
}
