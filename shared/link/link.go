package link

import "time"

// Link is one short link with all its fields, as the origin stores it and the
// admin API shows it. Zero times mean "not set".
type Link struct {
	ID         int64 // changes when an alias is deleted and created again
	Key        Key
	Target     string // stored form: ASCII, sent byte for byte
	Status     int    // 301, 302, 307 or 308
	Enabled    bool
	Owner      string
	Title      string
	Tags       []string
	Query      Query
	Suffix     Suffix
	Class      Class
	Clicks     bool // count clicks
	StartsAt   time.Time
	ExpiresAt  time.Time
	ExpiredURL string
	MaxClicks  int64 // 0 = unlimited
	CreatedAt  time.Time
	UpdatedAt  time.Time
	DeletedAt  time.Time // set: a tombstone, which keeps the key's version
	Epoch      uint64    // epoch in which the version was read
	Version    uint64    // position of the last change in its shard
}

// ValidStatus reports whether a link may answer with the HTTP status: 301, 302,
// 307 or 308.
func ValidStatus(status int) bool {
	switch status {
	case 301, 302, 307, 308:
		return true
	default:
		return false
	}
}

// Query says what becomes of a request's query.
type Query uint8

// The query policies. QueryOff drops the request's query, QueryAppend adds it,
// the other two say which side's parameter survives a clash of names.
const (
	QueryOff Query = iota
	QueryAppend
	QueryRequest
	QueryTarget
)

// String is the policy's name in the API.
func (q Query) String() string { return name(queryNames[:], int(q)) }

// Suffix says what becomes of path bytes after the code.
type Suffix uint8

// The suffix policies: SuffixOff makes such a request a 404.
const (
	SuffixOff Suffix = iota
	SuffixAppend
)

// String is the policy's name in the API.
func (s Suffix) String() string { return name(suffixNames[:], int(s)) }

// Class says what an edge may do with a link whose freshness it cannot prove.
type Class uint8

// The classes: available links are served marked as stale, strict links are
// refused with 503.
const (
	Available Class = iota
	Strict
)

// String is the class's name in the API.
func (c Class) String() string { return name(classNames[:], int(c)) }

// The names stand in the order of the constants above.
var (
	queryNames  = [...]string{"off", "append", "request", "target"} //nolint:gochecknoglobals // constant table
	suffixNames = [...]string{"off", "append"}                      //nolint:gochecknoglobals // constant table
	classNames  = [...]string{"available", "strict"}                //nolint:gochecknoglobals // constant table
)

// ParseQuery is the inverse of Query.String; ok is false for any other word.
func ParseQuery(s string) (q Query, ok bool) {
	i, ok := index(queryNames[:], s)
	return Query(i), ok
}

// ParseSuffix is the inverse of Suffix.String; ok is false for any other word.
func ParseSuffix(s string) (x Suffix, ok bool) {
	i, ok := index(suffixNames[:], s)
	return Suffix(i), ok
}

// ParseClass is the inverse of Class.String; ok is false for any other word.
func ParseClass(s string) (c Class, ok bool) {
	i, ok := index(classNames[:], s)
	return Class(i), ok
}

func name(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}

func index(names []string, s string) (uint8, bool) {
	for i, n := range names {
		if n == s {
			return uint8(i), true
		}
	}
	return 0, false
}
