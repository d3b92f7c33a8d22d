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
	held    atomic.Pointer[[]begun]
	missing atomic.Uint64 // visitors whose day had no salt
}

// begun is a day's salt with the hash that it begins. It uses the whole salt,
// though SipHash's key is half of it.
type begun struct {
	feed.Salt
	sip sip
}

func begin(salt feed.Salt) begun {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(salt.Key[8*i:]) }
	return begun{salt, newSip(word(0), word(1)).take(word(2)).take(word(3))}
}

// learn takes the salts of an answer; those of other days are forgotten. An
// answer without any (of an origin that has none yet) changes nothing.
func (s *salts) learn(given []feed.Salt) {
	if len(given) == 0 {
		return
	}
	if held := s.held.Load(); held != nil && slices.EqualFunc(*held, given, func(b begun, g feed.Salt) bool { return b.Salt == g }) {
		return
	}
	kept := make([]begun, len(given))
	for i := range given {
		kept[i] = begin(given[i])
	}
	s.held.Store(&kept)
}

// visitor is the mark by which one visitor's clicks of a day are known as one
// visitor's, never 0: a hash of address and agent's digest under the salt. Once
// the day's salt is gone nobody can tell whose it was. now is in microseconds
// since 1970; 0 where its day has no salt.
func (s *salts) visitor(now int64, address netip.Addr, agent digest) uint64 {
	held := s.held.Load()
	if held == nil {
		s.missing.Add(1)
		return 0
	}
	day := feed.Day(now)
	for i := range *held {
		if salt := &(*held)[i]; salt.Day == day {
			return salt.mark(address, agent)
		}
	}
	if (*held)[len(*held)-1].Day < day { // cut off from the origin beyond the end of the last day
		s.held.CompareAndSwap(held, nil)
	}
	s.missing.Add(1)
	return 0
}

// digest stands for an agent in a visitor's mark: the first bytes of its
// SHA-256. It is made once for each agent, not for each click. Among a million
// agents two have the same one by a chance of 1 in 37 million.
type digest uint64

func digestOf(agent string) digest {
	sum := sha256.Sum256([]byte(agent))
	return digest(binary.LittleEndian.Uint64(sum[:]))
}

// mark goes on with the address' 16 bytes and the digest's 8: five words with
// those of the salt that are no key.
func (b *begun) mark(address netip.Addr, agent digest) uint64 {
	from := address.As16()
	s := b.sip.take(binary.LittleEndian.Uint64(from[:8])).take(binary.LittleEndian.Uint64(from[8:])).take(uint64(agent))
	return max(s.sum(5), 1)
}
