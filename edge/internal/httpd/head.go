package httpd

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"waypost/edge/internal/visitor"
)

// maxForwarded is how many X-Forwarded-For lines a plain head may have. Proxies
// add to the line that is there.
const maxForwarded = 4

// head is a GET of the plain kind that nearly all visitors send, in the bytes that
// were read. What is not plain, or not well-formed, is fasthttp's to read and to
// answer, so there are no errors here.
type head struct {
	size      int    // in bytes, up to the next head
	target    []byte // "/" and at least one byte that is no "/"
	host      []byte // letters, digits, "-", "_" and ".", and perhaps a port
	visitor   visitor.Request
	lines     [maxForwarded][]byte // values of X-Forwarded-For, in order …
	forwarded int                  // … and how many
}

const (
	getSlash = "GET /"
	http11   = " HTTP/1.1\r\n"
	crlf     = "\r\n"
	// maxHost is of a name of 253 bytes and a port.
	maxHost = 253 + len(":65535")
)

// parse takes the head at the start of b apart; country is the name of the header
// that says the visitor's country, or "". It is true only for a head that fasthttp
// would read the same way, without a body, and keep the connection after.
func (h *head) parse(b []byte, country string) bool {
	if len(b) < len(getSlash) || string(b[:len(getSlash)]) != getSlash {
		return false
	}
	at := bytes.IndexByte(b, '\n') + 1
	if at < len(getSlash)+1+len(http11) || string(b[at-len(http11):at]) != http11 {
		return false
	}
	target := b[len(getSlash)-1 : at-len(http11)]
	if target[1] == '/' || bytes.IndexByte(target, ' ') >= 0 || controls(target) > 0 || !h.fields(b[at:], country) {
		return false
	}
	h.target = target
	h.size += at
	return true
}

// fields takes the lines behind the first one apart, up to the empty one.
func (h *head) fields(b []byte, country string) bool {
	*h = head{}
	for lines := 1; ; lines++ {
		end := bytes.IndexByte(b[h.size:], '\n')
		if end < 1 || b[h.size+end-1] != '\r' {
			return false
		}
		line := b[h.size : h.size+end-1]
		h.size += end + 1
		if len(line) == 0 {
			return h.host != nil && controls(b[:h.size]) == len(crlf)*lines
		}
		if !h.line(line, country) {
			return false
		}
	}
}

// line takes one header line. Of several of one name the first counts, as in
// listen.
func (h *head) line(b []byte, country string) bool {
	colon := bytes.IndexByte(b, ':')
	if colon < 1 {
		return false
	}
	name, value := b[:colon], trim(b[colon+1:])
	from := &h.visitor
	switch {
	case is(name, fasthttp.HeaderHost):
		if h.host != nil || !plainHost(value) {
			return false
		}
		h.host = value
	case is(name, fasthttp.HeaderUserAgent):
		if from.Agent != nil {
			return false // fasthttp takes the last
		}
		from.Agent = value
	case is(name, fasthttp.HeaderReferer):
		take(&from.Referrer, value)
	case is(name, fasthttp.HeaderAcceptLanguage):
		take(&from.Language, value)
	case is(name, "Sec-Purpose"), is(name, "Purpose"), is(name, "X-Moz"):
		take(&from.Purpose, value)
	case is(name, fasthttp.HeaderXForwardedFor):
		if h.forwarded == maxForwarded {
			return false
		}
		h.lines[h.forwarded] = value
		h.forwarded++
	case is(name, fasthttp.HeaderConnection):
		if !is(value, "keep-alive") {
			return false
		}
	case is(name, fasthttp.HeaderContentLength), is(name, fasthttp.HeaderTransferEncoding),
		is(name, fasthttp.HeaderTrailer), is(name, fasthttp.HeaderExpect):
		return false
	case !isToken(name): // nor a line that goes on with the one before
		return false
	}
	if from.Country == nil && is(name, country) {
		from.Country = value
	}
	return true
}

// is compares without regard to case; name is ASCII.
func is(b []byte, name string) bool {
	if len(b) != len(name) {
		return false
	}
	return string(b) == name || bytes.EqualFold(b, []byte(name))
}

// trim cuts spaces and tabs off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// plainHost says whether a host is taken as it stands: no user before it, no
// IPv6 address, no escapes.
func plainHost(host []byte) bool {
	if len(host) == 0 || len(host) > maxHost {
		return false
	}
	name, port, _ := bytes.Cut(host, []byte{':'})
	for _, c := range port {
		if c < '0' || c > '9' {
			return false
		}
	}
	for _, c := range name {
		if !octets[c] && c != '.' {
			return false
		}
	}
	return len(name) > 0
}

func isToken(name []byte) bool {
	for _, c := range name {
		if !octets[c] {
			return false
		}
	}
	return true
}

// octets are the letters, the digits, "-" and "_": all that names of headers and
// of hosts are of, in practice.
var octets = newOctets() //nolint:gochecknoglobals // constant table

func newOctets() (table [256]bool) {
	for _, c := range []byte("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_") {
		table[c] = true
	}
	return table
}
