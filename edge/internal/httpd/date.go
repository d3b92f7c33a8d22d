package httpd

import (
	"sync/atomic"
	"time"

	"waypost/shared/feed"
)

// dates makes the Date header's value once a second. Safe for concurrent use.
type dates struct {
	held atomic.Pointer[date]
}

type date struct {
	until feed.Instant // up to which it is the right one
	text  string
}

// at is the value at an instant that was just read.
func (d *dates) at(now feed.Instant) string {
	if held := d.held.Load(); held != nil && now < held.until {
		return held.text
	}
	wall := time.Now()
	left := wall.Truncate(time.Second).Add(time.Second).Sub(wall)
	made := &date{
		until: now + feed.Instant(left),
		text:  wall.UTC().Format(http1Date),
	}
	d.held.Store(made)
	return made.text
}

// http1Date is the form of dates in HTTP (RFC 9110 §5.6.7).
const http1Date = "Mon, 02 Jan 2006 15:04:05 GMT"
