package links

import "time"

// Field is one field of an input: left out (the zero Field), null, or a value.
// Null asks for the field's default, which on a change clears it.
type Field[T any] struct {
	Set   bool
	Value *T // nil: null
}

// Value returns a Field with a value.
func Value[T any](v T) Field[T] { return Field[T]{Set: true, Value: &v} }

// given reports whether the field has a value; null is none.
func (f Field[T]) given() bool { return f.Value != nil }

// or is the field's value, or another where there is none.
func (f Field[T]) or(other T) T {
	if f.Value == nil {
		return other
	}
	return *f.Value
}

// Input is what a caller wishes a link to be. Values are as sent: nothing is
// checked yet.
type Input struct {
	Target     Field[string]
	Status     Field[int64] // default 302
	Enabled    Field[bool]  // default true
	Owner      Field[string]
	Title      Field[string]
	Tags       Field[[]string]
	Query      Field[string] // names of link.Query, default off
	Suffix     Field[string] // names of link.Suffix, default off
	Class      Field[string] // names of link.Class, default available
	Clicks     Field[string] // on or off, default on
	StartsAt   Field[time.Time]
	ExpiresAt  Field[time.Time]
	TTL        Field[int64] // seconds from PostgreSQL's now; in place of ExpiresAt
	ExpiredURL Field[string]
	MaxClicks  Field[int64]

	// These say which key a new link gets; they cannot be changed later.
	Alias    Field[string]
	Domain   Field[string]
	CodeKind Field[string] // random (default), snowflake or counter
	Reuse    Field[bool]

	// Once is of creations; nil: it is carried out each time that it is asked for.
	Once *Once
}
