package limit

// bucket is one client's local token bucket in one word, so that a single
// compare-and-swap moves all of it:
//
//	bit 63      closed: the shared bucket was last known to be empty or in debt
//	bits 16-62  full: when the bucket is full again, in µs of the limiter's clock
//	bits 0-15   pending: tokens spent here and not yet settled with Redis
//
// A bucket holds depth µs' worth of tokens, each worth interval µs; what it
// lacks is the time until full. Time alone refills it, so a bucket whose full
// has passed needs no touching. (This is the generic cell rate algorithm of ATM
// Forum TM 4.0, 4.4.2; full is its theoretical arrival time.) The zero bucket
// is full and has nothing pending.
type bucket uint64

const (
	pendingBits = 16
	maxPending  = 1<<pendingBits - 1
	maxFull     = 1<<47 - 1
	closedBit   = bucket(1) << 63
)

func newBucket(full, pending int64, closed bool) bucket {
	b := bucket(max(0, min(full, maxFull)))<<pendingBits | bucket(max(0, min(pending, maxPending)))
	if closed {
		b |= closedBit
	}
	return b
}

func (b bucket) full() int64    { return int64(b &^ closedBit >> pendingBits) }
func (b bucket) pending() int64 { return int64(b & maxPending) }
func (b bucket) closed() bool   { return b&closedBit != 0 }

// spend takes one token at now. Where there is none it returns ok false and
// the time until there is one, which is not positive if only closed, or pending
// at its limit, stood in the way. Alone, where Redis does not answer, neither does.
func (b bucket) spend(now, depth, interval int64, alone bool) (after bucket, wait int64, ok bool) {
	full := max(b.full(), now) + interval
	wait = full - now - depth
	if wait > 0 || !alone && (b.closed() || b.pending() == maxPending) {
		return b, wait, false
	}
	return newBucket(full, b.pending()+1, b.closed()), 0, true
}

// settled is the bucket after Redis took account of charged pending tokens and
// answered at now with credit, what the shared bucket then held, in µs (not
// positive: nothing, or a debt). The edge may spend that, up to depth, less
// what it has spent since it sent the charge.
func (b bucket) settled(now, depth, interval, charged, credit int64) bucket {
	pending := max(0, b.pending()-charged)
	left := min(depth, credit) - pending*interval
	return newBucket(now+depth-left, pending, credit <= 0)
}

// idle says that the bucket may be forgotten without loss: it is full, nothing
// is pending and it is not closed, as every new one.
func (b bucket) idle(now int64) bool {
	return b.full() <= now && b.pending() == 0 && !b.closed()
}

// due says that a settling round has something to do: tokens are pending, or
// the bucket is closed and the shared one may have got out of its debt.
func (b bucket) due(now, depth int64) bool {
	return b.pending() > 0 || b.closed() && b.full()-now < depth
}

// inherited is the bucket that the next client of a slot starts with where a
// bucket that was not idle had to go: what was spent stays spent, up to an
// empty bucket; what Redis said, and what it is owed, was about somebody else.
func (b bucket) inherited(now, depth int64) bucket {
	return newBucket(min(b.full(), now+depth), 0, false)
}
