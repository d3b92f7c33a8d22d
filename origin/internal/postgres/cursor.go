package postgres

import (
	"encoding/base64"
	"encoding/binary"
	"time"

	"waypost/shared/link"
)

// order is how a list is sorted. Its number is the first byte of the list's
// cursors.
type order byte

// The orders. Links that are equal in it stand in the order of their ids.
const (
	newestFirst order = iota + 1
	oldestFirst
	mostClicked
)

// orderOf reads links.Filter's Sort.
func orderOf(sort string) order {
	switch sort {
	case "created_at":
		return oldestFirst
	case "clicks":
		return mostClicked
	default:
		return newestFirst
	}
}

// cursor is the place of a link in a list: the last one of a page.
type cursor struct {
	order order
	key   int64 // what is sorted by: microseconds since 1970, or clicks
	id    int64
}

const cursorSize = 1 + 8 + 8

// text is base64url of: order, key, link id, the latter two big-endian.
func (c cursor) text() string {
	b := append(make([]byte, 0, cursorSize), byte(c.order))
	b = binary.BigEndian.AppendUint64(b, unsigned(c.key))
	b = binary.BigEndian.AppendUint64(b, unsigned(c.id))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor reads what text wrote for the same order; the error is a
// *link.InvalidError.
func parseCursor(s string, o order) (cursor, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != cursorSize || order(b[0]) != o {
		return cursor{}, errCursor()
	}
	c := cursor{order: o, key: signed(binary.BigEndian.Uint64(b[1:])), id: signed(binary.BigEndian.Uint64(b[9:]))}
	// PostgreSQL has no times far beyond those of any link.
	if y := time.UnixMicro(c.key).UTC().Year(); o != mostClicked && (y < 1970 || y > 9999) {
		return cursor{}, errCursor()
	}
	return c, nil
}

// value is the key as the list's statement compares it.
func (c cursor) value() any {
	if c.order == mostClicked {
		return c.key
	}
	return time.UnixMicro(c.key).UTC()
}

func errCursor() error {
	return &link.InvalidError{Fields: []link.FieldError{{Field: "cursor", Reason: "is not one that this list gave out"}}}
}
