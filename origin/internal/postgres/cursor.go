package postgres

import (
	"encoding/base64"
	"encoding/binary"
	"time"

	"waypost/shared/link"
)

// cursor is the place of a link in a list: the last one of a page.
type cursor struct {
	created time.Time
	id      int64
}

// The first byte of a cursor: its format and the order of the list.
const (
	newestFirst byte = 1
	oldestFirst byte = 2
)

const cursorSize = 1 + 8 + 8

// text is base64url of: order, created_at in microseconds since 1970, link id,
// both big-endian.
func (c cursor) text(oldest bool) string {
	b := append(make([]byte, 0, cursorSize), orderByte(oldest))
	b = binary.BigEndian.AppendUint64(b, unsigned(c.created.UnixMicro()))
	b = binary.BigEndian.AppendUint64(b, unsigned(c.id))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor reads what text wrote for the same order; the error is a
// *link.InvalidError.
func parseCursor(s string, oldest bool) (cursor, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != cursorSize || b[0] != orderByte(oldest) {
		return cursor{}, errCursor()
	}
	c := cursor{
		created: time.UnixMicro(signed(binary.BigEndian.Uint64(b[1:]))).UTC(),
		id:      signed(binary.BigEndian.Uint64(b[9:])),
	}
	// PostgreSQL has no times far beyond those of any link.
	if y := c.created.Year(); y < 1970 || y > 9999 {
		return cursor{}, errCursor()
	}
	return c, nil
}

func errCursor() error {
	return &link.InvalidError{Fields: []link.FieldError{{Field: "cursor", Reason: "is not one that this list gave out"}}}
}

func orderByte(oldest bool) byte {
	if oldest {
		return oldestFirst
	}
	return newestFirst
}
