package spool

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// ring is the memory between the appends and the writer. An offset of the log
// is also a place in it (modulo its size), so a frame is copied once, to where
// the writer will find it, and keeps its offset however often a write is tried.
//
// An append reserves by a compare-and-swap of reserved, copies its payload and
// then stores the frame's first word: that store publishes the payload. The
// writer walks words from written until one is zero, writes what it passed,
// clears it and only then moves written: that store hands the room back. So
// every free word is zero, and each byte has one owner at any time.
type ring struct {
	words []uint64
	bytes []byte // the same memory
	mask  uint64

	_        [64]byte // reserved and written change all the time, on either side
	reserved atomic.Uint64
	_        [56]byte
	written  atomic.Uint64
	_        [56]byte
}

// sealed in reserved refuses all further reservations.
const sealed = 1 << 63

// minRing leaves room for a write of half the ring and one frame more.
const minRing = 4 * MaxPayload

// newRing makes a ring of at least size bytes (a power of two).
func newRing(size int) *ring {
	n := uint64(1) << bits.Len(uint(max(size, minRing)-1))
	words := make([]uint64, n/wordBytes)
	return &ring{
		words: words,
		bytes: unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n), //nolint:gosec // words and bytes are one memory: words are stored atomically, bytes written to files
		mask:  n - 1,
	}
}

// reserve claims n bytes, a multiple of 8. It fails when they are not free, or
// when the ring is sealed.
func (r *ring) reserve(n uint64) (at uint64, ok bool) {
	for {
		at = r.reserved.Load()
		if at&sealed != 0 || !r.fits(at+n) {
			return 0, false
		}
		if r.reserved.CompareAndSwap(at, at+n) {
			return at, true
		}
	}
}

// fits reports whether the ring holds all that is not written up to an offset.
// written is loaded after the offset, so it may be beyond it: whoever was
// overtaken then fails to swap and looks anew.
func (r *ring) fits(end uint64) bool {
	return distance(r.written.Load(), end) <= int64(len(r.bytes))
}

// put publishes payload as the frame at a reserved offset. The sum is of the
// copies, so that payload can stand on the caller's stack.
func (r *ring) put(at uint64, payload []byte) {
	to := r.bytes[(at+wordBytes)&r.mask:]
	n := copy(to, payload)
	sum := checksum(to[:n])
	if n < len(payload) {
		sum = moreChecksum(sum, r.bytes[:copy(r.bytes, payload[n:])])
	}
	atomic.StoreUint64(&r.words[at&r.mask/wordBytes], frameWord(len(payload), sum))
}

// seal refuses reservations from now on and says where the last one ends.
func (r *ring) seal() (end uint64) { return r.reserved.Or(sealed) &^ sealed }

// held counts the bytes that are reserved and not written.
func (r *ring) held() uint64 {
	written := r.written.Load() // first: it never passes a reserved that is loaded later
	return r.reserved.Load()&^sealed - written
}

// whole walks the published frames from an offset on, until it has passed most
// bytes or comes to one that is not published. Only for the writer.
func (r *ring) whole(from uint64, most uint64) (to, frames uint64) {
	to = from
	for to-from < most {
		word := atomic.LoadUint64(&r.words[to&r.mask/wordBytes])
		if word == 0 {
			break
		}
		to += frameBytes(wordLength(word))
		frames++
	}
	return to, frames
}

// within walks the published frames that end at or before limit.
func (r *ring) within(from, limit uint64) (to, frames uint64) {
	to = from
	for to < limit {
		next, _ := r.whole(to, 1)
		if next == to || next > limit {
			break
		}
		to = next
		frames++
	}
	return to, frames
}

// span is the memory of [from, to), in two parts where it wraps.
func (r *ring) span(from, to uint64) (head, tail []byte) {
	at, n := from&r.mask, to-from
	if room := uint64(len(r.bytes)) - at; n > room {
		return r.bytes[at:], r.bytes[:n-room]
	}
	return r.bytes[at : at+n], nil
}

// free hands [written, to) back to the appends, once it is written.
func (r *ring) free(to uint64) {
	head, tail := r.span(r.written.Load(), to)
	clear(head)
	clear(tail)
	r.written.Store(to)
}
