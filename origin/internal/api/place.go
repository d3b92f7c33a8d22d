package api

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// maxPlace bounds a cursor of a list by name, in bytes.
const maxPlace = 512

// placeMark stands before the name in a cursor: that of the default domain is
// empty, and an empty cursor begins the list.
const placeMark = "/"

// after is the place that the cursor names.
func (p Page) after() (links.Place, error) {
	if p.Cursor == "" {
		return links.Place{}, nil
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(p.Cursor)
	name, marked := bytes.CutPrefix(text, []byte(placeMark))
	if err != nil || !marked || len(p.Cursor) > maxPlace || !isName(name) {
		return links.Place{}, faulty([]link.FieldError{{Field: "cursor", Reason: "is not one that this list gave out"}})
	}
	return links.Place{Started: true, Name: string(name)}, nil
}

// isName reports whether the bytes can be stored as text.
func isName(b []byte) bool {
	for _, c := range b {
		if c < ' ' {
			return false
		}
	}
	return utf8.Valid(b)
}

// nextCursor is the cursor of a place; nil where there is no next page.
func nextCursor(next links.Place) *string {
	if !next.Started {
		return nil
	}
	cursor := base64.RawURLEncoding.EncodeToString([]byte(placeMark + next.Name))
	return &cursor
}
