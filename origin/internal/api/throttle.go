package api

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// throttle gives every address a bucket of calls. Its table is bounded: when it
// is full, buckets that are full again are dropped, which changes nothing, and
// else any one of them. It is safe for concurrent use.
type throttle struct {
	now   func() time.Time
	rate  rate.Limit // calls per second
	burst int
	most  int // addresses

	mu      sync.Mutex
	buckets map[netip.Prefix]*rate.Limiter
	swept   time.Time
}

func newThrottle(perSecond float64, burst, most int, now func() time.Time) *throttle {
	return &throttle{
		now: now, rate: rate.Limit(perSecond), burst: burst, most: most,
		buckets: make(map[netip.Prefix]*rate.Limiter),
	}
}

// clientOf is whose bucket an address draws on. An IPv6 client owns its whole
// /64.
func clientOf(addr netip.Addr) netip.Prefix {
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	client, _ := addr.Prefix(bits) // fails for the zero Addr, whose bucket is the zero Prefix's
	return client
}

// wait says how long the bucket of an address stays empty; 0 if take would find
// a call in it.
func (t *throttle) wait(addr netip.Addr) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	bucket := t.buckets[clientOf(addr)]
	if bucket == nil {
		return 0
	}
	missing := 1 - bucket.TokensAt(t.now())
	return time.Duration(max(0, missing) / float64(t.rate) * float64(time.Second))
}

// take takes a call from the bucket of an address, or says how long to wait.
func (t *throttle) take(addr netip.Addr) (wait time.Duration, ok bool) {
	client := clientOf(addr)
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	bucket := t.buckets[client]
	if bucket == nil {
		t.makeRoom(now)
		bucket = rate.NewLimiter(t.rate, t.burst)
		t.buckets[client] = bucket
	}
	r := bucket.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return wait, false
	}
	return 0, true
}

// makeRoom looks at the whole table once a second at most, so that a flood from
// many addresses does not pay for it with every call.
func (t *throttle) makeRoom(now time.Time) {
	if len(t.buckets) < t.most {
		return
	}
	if now.Sub(t.swept) >= time.Second {
		t.swept = now
		for client, bucket := range t.buckets {
			if bucket.TokensAt(now) >= float64(t.burst) {
				delete(t.buckets, client)
			}
		}
	}
	for client := range t.buckets {
		if len(t.buckets) < t.most {
			return
		}
		delete(t.buckets, client)
	}
}
