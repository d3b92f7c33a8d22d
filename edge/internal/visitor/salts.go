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
// visitor's: the first 8 bytes, never 0, of SHA-256(salt ‖ address ‖ agent). Once
// the day's salt is gone nobody can tell whose it was. now is in microseconds
// since 1970; 0 where its day has no salt.
func (s *salts) visitor(now int64, address netip.Addr, agent []byte) uint64 {
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

func mark(key *[feed.SaltSize]byte, address netip.Addr, agent []byte) uint64 {
	var text [feed.SaltSize + 16 + maxAgent]byte
	from := address.As16()
	n := copy(text[:], key[:])
	n += copy(text[n:], from[:])
	n += copy(text[n:], agent[:min(len(agent), maxAgent)])
	sum := sha256.Sum256(text[:n])
	return max(binary.BigEndian.Uint64(sum[:]), 1)
}
