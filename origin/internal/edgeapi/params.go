package edgeapi

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"waypost/shared/feed"
)

// Bounds of a key on the wire, in bytes. A code is at most 64 characters.
const (
	maxDomain = 253
	maxCode   = 256
)

// paramError, a 400, says which parameter, or the body, was refused and why, for the edge's log.
type paramError string

// Error is the whole message.
func (e paramError) Error() string { return string(e) }

// params reads the query of one request. The first fault sticks; what is read
// after it means nothing, so callers ask for it once, at the end. Parameters
// that nobody asks for are ignored, for newer edges.
type params struct {
	values url.Values
	bad    paramError
}

func parse(r *http.Request) *params {
	values, err := url.ParseQuery(r.URL.RawQuery)
	p := &params{values: values}
	if err != nil {
		p.bad = "query: not well-formed"
	}
	return p
}

// fault is nil or a paramError.
func (p *params) fault() error {
	if p.bad == "" {
		return nil
	}
	return p.bad
}

func (p *params) refuse(name, reason string) {
	if p.bad == "" {
		p.bad = paramError(name + ": " + reason)
	}
}

// one is the value of a parameter that may stand at most once.
func (p *params) one(name string) (value string, ok bool) {
	values := p.values[name]
	if len(values) > 1 {
		p.refuse(name, "given more than once")
	}
	if len(values) == 0 {
		return "", false
	}
	return values[0], true
}

// domain is a host name, or "" where the parameter is missing: the default
// domain.
func (p *params) domain(name string) string {
	v, _ := p.one(name)
	if len(v) > maxDomain {
		p.refuse(name, fmt.Sprintf("longer than %d bytes", maxDomain))
	}
	for i := range len(v) {
		if v[i] <= ' ' || v[i] >= 0x7f {
			p.refuse(name, "not printable ASCII")
		}
	}
	return v
}

func (p *params) code(name string) string {
	v := p.codeOrNone(name)
	if v == "" {
		p.refuse(name, "missing")
	}
	return v
}

// codeOrNone refuses what can be no code and what PostgreSQL's text cannot
// hold. 0x00 moreover separates domain and code in a key's bytes.
func (p *params) codeOrNone(name string) string {
	v, _ := p.one(name)
	switch {
	case len(v) > maxCode:
		p.refuse(name, fmt.Sprintf("longer than %d bytes", maxCode))
	case !utf8.ValidString(v):
		p.refuse(name, "not UTF-8")
	case strings.IndexByte(v, 0) >= 0:
		p.refuse(name, "contains 0x00")
	}
	return v
}

// position is an epoch or a position. They are bigint in PostgreSQL, which has
// no use for the 64th bit.
func (p *params) position(name string) uint64 {
	v, err := strconv.ParseUint(p.number(name), 10, 63)
	if err != nil {
		p.refuse(name, "not a number from 0 to 2^63-1")
	}
	return v
}

func (p *params) anyShard(name string) int  { return p.shard(name, feed.AllShards) }
func (p *params) linkShard(name string) int { return p.shard(name, feed.Shards) }

func (p *params) shard(name string, count int) int {
	v, err := strconv.ParseUint(p.number(name), 10, 8)
	if err != nil || int(v) >= count {
		p.refuse(name, fmt.Sprintf("not a shard from 0 to %d", count-1))
	}
	return int(v)
}

func (p *params) number(name string) string {
	v, ok := p.one(name)
	if !ok {
		p.refuse(name, "missing")
	}
	return v
}
