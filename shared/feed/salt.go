package feed

import (
	"encoding/binary"
	"fmt"
	"time"
)

// SaltSize is the length of a salt's key, in bytes.
const SaltSize = 32

// MaxSalts bounds the salts of one answer: today's and tomorrow's.
const MaxSalts = 2

// Salt is what visitors are hashed with on one UTC day: random, the same for
// all edges, and forgotten after the day, so that a hash leads back to nobody
// and the same visitor is another one on the next day. It is secret: never
// written to a file or a log.
type Salt struct {
	Day int64 // days since 1970
	Key [SaltSize]byte
}

// String names the salt without telling its key, should one ever be printed.
func (s Salt) String() string { return fmt.Sprintf("salt of day %d", s.Day) }

// Day counts the days from 1970 to an instant, UTC, given in microseconds since
// 1970. Days before 1970 are negative.
func Day(micros int64) int64 {
	const day = int64(24 * time.Hour / time.Microsecond)
	d := micros / day
	if micros%day < 0 {
		d--
	}
	return d
}

// appendSalts appends nothing where there are none, as whoever knows of no salts
// does.
func appendSalts(dst []byte, salts []Salt) []byte {
	if len(salts) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(len(salts)))
	for i := range salts {
		dst = i64(dst, salts[i].Day)
		dst = append(dst, salts[i].Key[:]...)
	}
	return dst
}

// salts reads what appendSalts wrote, which is at the end of its message. Days
// ascend, so that one has one key.
func (r *reader) salts() []Salt {
	if r.s == "" {
		return nil
	}
	n := r.uvarint()
	if n == 0 || n > MaxSalts {
		r.fail()
		return nil
	}
	salts := make([]Salt, n)
	for i := range salts {
		salts[i].Day = r.i64()
		if len(r.s) < SaltSize || i > 0 && salts[i].Day <= salts[i-1].Day {
			r.fail()
			return nil
		}
		copy(salts[i].Key[:], r.s)
		r.s = r.s[SaltSize:]
	}
	return salts
}
