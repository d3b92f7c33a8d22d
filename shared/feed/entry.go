package feed

import (
	"encoding/binary"
	"strings"
	"time"
	"unsafe"

	"waypost/shared/link"
)

// State says what an entry knows of its key.
type State uint8

// The states. Absent covers a key that never had a row (Version 0) and a
// deleted link (Version > 0, a tombstone).
const (
	Absent State = iota
	Enabled
	Disabled
)

// Entry is what is known of one key at one position: everything that is cached
// or in flight is one such value. It is immutable once made and may be shared.
type Entry struct {
	judged uint64 // what Blocks.Judge last said of it, accessed atomically; no part of the value

	Epoch   uint64
	AsOf    uint64 // position in the key's shard at which the content is known exact
	Version uint64 // position of the change that made the content; 0 = there never was a row
	Key     link.Key
	Body
}

// Body is the part of an entry that a change carries: the link itself. Epoch,
// position and key stand in the change around it.
//
// The fields of a byte or two stand together and fill one word: a million entries
// in memory have a million paddings.
type Body struct {
	LinkID     uint64
	Status     uint16
	State      State
	Query      link.Query
	Suffix     link.Suffix
	Class      link.Class
	Clicks     bool // count clicks
	Limited    bool // has max_clicks: where it leads is asked of the origin, for each use
	StartsAt   int64
	ExpiresAt  int64
	CreatedAt  int64  // these three: microseconds since 1970 by PostgreSQL's clock, 0 = not set
	Target     string // empty only in a limited link, whose target is for uses alone
	ExpiredURL string
	// Sites are, packed, the hashes of the hosts (link.Sites) of a target that does
	// not stand here, so that it can be seen to be blocked.
	Sites string
}

// Micros is the unit of time on the wire: microseconds since 1970, 0 for the
// zero time.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

const (
	flagClicks  = 1
	flagLimited = 2
	flagSites   = 4
)

// Newer reports whether e is to replace old: a higher (epoch, position).
func (e *Entry) Newer(old *Entry) bool {
	return e.Epoch > old.Epoch || e.Epoch == old.Epoch && e.AsOf > old.AsOf
}

// Timed reports whether the entry means one thing now and another later.
func (e *Entry) Timed() bool { return e.State == Enabled && (e.StartsAt != 0 || e.ExpiresAt != 0) }

// Size is the memory an entry holds that was parsed, in bytes: the struct and its
// one shared string, each in a slot as the allocator has them, of which the
// string's is by up to an eighth too large.
func (e *Entry) Size() int {
	const fixed = 160
	n := e.lengths()
	return fixed + n + n/16
}

// lengths is that of all strings of the entry together.
func (e *Entry) lengths() int {
	return len(e.Key.Domain) + len(e.Key.Code) + len(e.Target) + len(e.ExpiredURL) + len(e.Sites)
}

// settle gives the entry's strings one memory of their own, of no more than they
// need: an entry lives for long, and must not keep what it was parsed from.
func (e *Entry) settle() {
	var all strings.Builder
	all.Grow(e.lengths())
	own := []*string{&e.Key.Domain, &e.Key.Code, &e.Target, &e.ExpiredURL, &e.Sites}
	for _, s := range own {
		all.WriteString(*s)
	}
	rest := all.String()
	for _, s := range own {
		*s, rest = rest[:len(*s)], rest[len(*s):]
	}
}

// Append appends the entry's bytes: format, epoch and asof (big-endian at
// fixed offsets, because a Redis script compares them), version, key, body.
func (e *Entry) Append(dst []byte) []byte {
	dst = append(dst, format)
	dst = binary.BigEndian.AppendUint64(dst, e.Epoch)
	dst = binary.BigEndian.AppendUint64(dst, e.AsOf)
	dst = binary.BigEndian.AppendUint64(dst, e.Version)
	dst = appendString(dst, e.Key.Domain)
	dst = appendString(dst, e.Key.Code)
	return e.Body.Append(dst)
}

// ParseEntry reads what Append wrote. Of b the entry keeps nothing; its strings
// share one memory. The error is ErrFormat.
func ParseEntry[B []byte | string](b B) (*Entry, error) {
	r := reader{s: view(b)}
	if r.u8() != format {
		return nil, ErrFormat
	}
	e := &Entry{Epoch: r.u64(), AsOf: r.u64(), Version: r.u64()}
	e.Key = link.Key{Domain: r.string(), Code: r.string()}
	e.Body = r.body()
	if err := r.end(); err != nil {
		return nil, err
	}
	e.settle()
	return e, nil
}

// view is b as a string that holds only as long as b is not written to.
func view[B []byte | string](b B) string {
	switch b := any(b).(type) {
	case string:
		return b
	case []byte:
		return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // what is read of it is copied before b is the caller's again
	}
	return ""
}

// Append appends the body's bytes, as they stand in an entry and in a change.
func (b *Body) Append(dst []byte) []byte {
	dst = append(dst, byte(b.State))
	if b.State == Absent {
		return dst
	}
	var flags byte
	if b.Clicks {
		flags |= flagClicks
	}
	if b.Limited {
		flags |= flagLimited
	}
	if b.Sites != "" {
		flags |= flagSites
	}
	dst = binary.BigEndian.AppendUint64(dst, b.LinkID)
	dst = binary.BigEndian.AppendUint16(dst, b.Status)
	dst = append(dst, byte(b.Query), byte(b.Suffix), byte(b.Class), flags)
	dst = i64(dst, b.StartsAt)
	dst = i64(dst, b.ExpiresAt)
	dst = i64(dst, b.CreatedAt)
	dst = appendString(dst, b.Target)
	dst = appendString(dst, b.ExpiredURL)
	if b.Sites != "" {
		dst = appendString(dst, b.Sites)
	}
	return dst
}

// body refuses values that this version has no meaning for: an option that is
// not understood must be a miss, not a wrong redirect.
func (r *reader) body() Body {
	b := Body{State: State(r.u8())}
	if b.State == Absent {
		return b
	}
	b.LinkID = r.u64()
	b.Status = r.u16()
	b.Query, b.Suffix, b.Class = link.Query(r.u8()), link.Suffix(r.u8()), link.Class(r.u8())
	flags := r.u8()
	b.Clicks, b.Limited = flags&flagClicks != 0, flags&flagLimited != 0
	b.StartsAt, b.ExpiresAt, b.CreatedAt = r.i64(), r.i64(), r.i64()
	b.Target, b.ExpiredURL = r.string(), r.string()
	if flags&flagSites != 0 {
		b.Sites = r.string()
	}
	known := b.State <= Disabled && b.Query <= link.QueryTarget && b.Suffix <= link.SuffixAppend &&
		b.Class <= link.Strict && flags&^(flagClicks|flagLimited|flagSites) == 0 && link.ValidStatus(int(b.Status)) && (b.Target != "" || b.Limited) &&
		len(b.Sites)%siteSize == 0 && (b.Sites != "") == (flags&flagSites != 0)
	if !known {
		r.fail()
	}
	return b
}
