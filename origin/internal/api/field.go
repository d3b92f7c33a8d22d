package api

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"waypost/origin/internal/links"
)

// field is a field of a request's body: left out, null, or a value of its type.
type field[T any] struct{ links.Field[T] }

// UnmarshalJSON reads a value; its errors are reasons for the client.
func (f *field[T]) UnmarshalJSON(b []byte) error {
	f.Set = true
	if string(b) == "null" {
		return nil
	}
	var v T
	if err := readValue(b, &v); err != nil {
		return err
	}
	f.Value = &v
	return nil
}

// Schema is that of T, or null. A field whose null is refused has the tag
// nullable:"false".
func (f field[T]) Schema(r huma.Registry) *huma.Schema {
	s := r.Schema(reflect.TypeFor[T](), false, "")
	s.Nullable = true
	return s
}

// valueOf is the field's value, or the zero value where there is none.
func valueOf[T any](f field[T]) T {
	if f.Value == nil {
		var zero T
		return zero
	}
	return *f.Value
}

// readValue reads one JSON value of the types that fields have.
func readValue(b []byte, to any) error {
	switch to := to.(type) {
	case *string:
		return readString(b, to)
	case *int64:
		return readWhole(b, to)
	case *float64:
		if json.Unmarshal(b, to) != nil {
			return errors.New("must be a number")
		}
	case *bool:
		if json.Unmarshal(b, to) != nil {
			return errors.New("must be true or false")
		}
	case *time.Time:
		return readTime(b, to)
	case *[]string:
		return readStrings(b, to)
	case *[]json.RawMessage:
		if json.Unmarshal(b, to) != nil {
			return errors.New("must be a list")
		}
	}
	return nil
}

func readString(b []byte, to *string) error {
	switch {
	case b[0] != '"' || json.Unmarshal(b, to) != nil:
		return errors.New("must be a string")
	case hasLoneSurrogate(b):
		return errors.New("must not have half of a surrogate pair")
	}
	return nil
}

// readTime takes RFC 3339, which package time reads with some freedom: it lets
// hours of one digit, commas and offsets of whole days pass.
func readTime(b []byte, to *time.Time) error {
	const hour, day = len("2006-01-02T15"), 24 * 60 * 60
	refused := errors.New("must be a time such as 2030-01-02T15:04:05Z")
	var text string
	if readString(b, &text) != nil || to.UnmarshalText([]byte(text)) != nil {
		return refused
	}
	_, offset := to.Zone()
	if text[hour] != ':' || strings.Contains(text, ",") || offset <= -day || offset >= day {
		return refused
	}
	return nil
}

func readStrings(b []byte, to *[]string) error {
	var items []json.RawMessage
	if json.Unmarshal(b, &items) != nil {
		return errors.New("must be a list of strings")
	}
	*to = make([]string, len(items))
	for i, item := range items {
		if err := readString(item, &(*to)[i]); err != nil {
			return errors.New("item " + strconv.Itoa(i+1) + " " + err.Error())
		}
	}
	return nil
}

// readWhole takes what JSON Schema calls an integer: 302, and 302.0 as well.
func readWhole(b []byte, to *int64) error {
	const exact = 1 << 53 // beyond it a float64 may be another number
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err == nil {
		*to = n
		return nil
	}
	x, err := strconv.ParseFloat(string(b), 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > exact {
		return errors.New("must be a whole number")
	}
	*to = int64(x)
	return nil
}

// hasLoneSurrogate reports whether a JSON string, which is valid, has a \u
// escape of half a character, for which encoding/json would put U+FFFD.
func hasLoneSurrogate(b []byte) bool {
	pending := -1 // after a first half: where the escape of the second must start
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		if pending >= 0 && (pending != i || b[i+1] != 'u') {
			return true
		}
		i++
		if b[i] != 'u' {
			continue
		}
		r, _ := strconv.ParseUint(string(b[i+1:i+5]), 16, 16)
		second := r >= 0xDC00 && r < 0xE000
		if second != (pending >= 0) {
			return true
		}
		i += 4
		pending = -1
		if r >= 0xD800 && r < 0xDC00 {
			pending = i + 1
		}
	}
	return pending >= 0
}
