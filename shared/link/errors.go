package link

import (
	"errors"
	"strings"
)

// The outcomes of looking up or writing a link. They travel unwrapped on the
// redirect path; HTTP packages map them to statuses in one table each.
var (
	ErrNotFound    = errors.New("link not found")
	ErrGone        = errors.New("link is disabled or expired")
	ErrTaken       = errors.New("alias is taken")
	ErrMismatch    = errors.New("link was changed since the given version")
	ErrUnavailable = errors.New("link store is unavailable")
)

// What a request can be refused for before any link is looked up or sent. They
// travel unwrapped too.
var (
	ErrMalformedPath  = errors.New("path is malformed")
	ErrMalformedQuery = errors.New("query is malformed")
)

// InvalidError reports the fields of an input that were refused. It is never
// empty.
type InvalidError struct {
	Fields []FieldError
}

// FieldError names one refused field and why, in words for the caller.
type FieldError struct {
	Field  string
	Reason string
}

// Error lists every refused field.
func (e *InvalidError) Error() string {
	parts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		parts[i] = f.Field + ": " + f.Reason
	}
	return "invalid: " + strings.Join(parts, "; ")
}

// reasonError is the error of the parsers of one field (ParseAlias, ParseTarget,
// ParseDomain): its text is fit to be a FieldError's Reason.
type reasonError string

// Error is the reason.
func (r reasonError) Error() string { return string(r) }
