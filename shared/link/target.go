package link

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TargetRules is what a service adds to the rules of targets. The zero value
// adds nothing.
type TargetRules struct {
	Schemes []string // schemes allowed besides http and https, without ":"
	// OwnHosts are the service's short domains, as ParseHost returns them. One
	// with a port ("127.0.0.1:8080") is meant on that port only.
	OwnHosts []string
}

// ParseTarget returns the stored form of a link's target or expired URL: pure
// printable ASCII without space, of at most MaxTarget bytes, sent byte for
// byte. The error's text is the reason of a refusal.
//
// Nothing is decoded, re-encoded or normalised. Only a Unicode host is mapped
// to ASCII, and bytes that RFC 3986 does not let stand where they are (a second
// "#" among them) are percent-encoded. The stored form's own stored form is
// itself.
func ParseTarget(raw string, rules TargetRules) (stored string, err error) {
	if fault := textFault(raw); fault != "" {
		return "", reasonError(fault)
	}
	scheme, rest, ok := cutScheme(raw)
	if !ok {
		return "", reasonError("must be an absolute URL")
	}
	head := scheme + ":"
	switch {
	case strings.EqualFold(scheme, "http"), strings.EqualFold(scheme, "https"):
		var authority, host string
		authority, rest, ok = cutAuthority(rest)
		if !ok {
			return "", reasonError("has no host")
		}
		if authority, host, err = parseAuthority(authority); err != nil {
			return "", err
		}
		host = comparedHost(host) // an address has many spellings
		if slices.Contains(rules.OwnHosts, host) || slices.Contains(rules.OwnHosts, host+effectivePort(scheme, authority)) {
			return "", reasonError("must not lead back to this service")
		}
		head += "//" + authority
	case slices.ContainsFunc(rules.Schemes, func(s string) bool { return strings.EqualFold(s, scheme) }):
		if head, rest, err = otherHead(head, rest); err != nil {
			return "", err
		}
	default:
		return "", reasonError("has a scheme that is not allowed")
	}
	if hasBadEscape([]byte(rest)) {
		return "", reasonError(badEscape)
	}
	stored = string(appendTail([]byte(head), []byte(rest)))
	if len(stored) > MaxTarget {
		return "", reasonError("must have at most 8192 bytes once percent-encoded")
	}
	return stored, nil
}

const badEscape = `has a "%" that is not followed by two hex digits`

// textFault says what is wrong with a target as text, before it is taken apart.
// Line and paragraph separators count as control characters: what prints a
// target would break the line.
func textFault(raw string) string {
	switch {
	case raw == "":
		return "must not be empty"
	case len(raw) > MaxTarget:
		return "must have at most 8192 bytes"
	case !utf8.ValidString(raw):
		return "is not valid UTF-8"
	case strings.ContainsFunc(raw, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
	}):
		return "must not have control characters"
	}
	return ""
}

// cutScheme cuts raw after the scheme of RFC 3986; ok is false if it has none.
func cutScheme(raw string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(raw, ":")
	if !ok || scheme == "" {
		return "", "", false
	}
	for i, c := range []byte(scheme) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.') {
			return "", "", false
		}
	}
	return scheme, rest, true
}

// cutAuthority cuts what follows a scheme's ":" into the authority and the
// rest; ok is false if it has none.
func cutAuthority(s string) (authority, rest string, ok bool) {
	s, ok = strings.CutPrefix(s, "//")
	if !ok {
		return "", "", false
	}
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		return s[:i], s[i:], true
	}
	return s, "", true
}

// otherHead moves the authority, if there is one, from rest to head for a
// scheme about whose hosts nothing is known: they may be empty or of any
// characters, but users, backslashes and bad addresses are refused as ever.
func otherHead(head, rest string) (newHead, newRest string, err error) {
	authority, tail, ok := cutAuthority(rest)
	switch {
	case rest == "":
		return "", "", reasonError("has nothing after its scheme")
	case !ok:
		return head, rest, nil
	case strings.HasPrefix(authority, "["):
		if authority, _, err = parseAuthority(authority); err != nil {
			return "", "", err
		}
	case strings.ContainsAny(authority, `@\`):
		return "", "", reasonError("must not have a user, password or backslash before its path")
	case hasBadEscape([]byte(authority)):
		return "", "", reasonError(badEscape)
	default:
		authority = string(appendLegal(nil, []byte(authority), inPath))
	}
	return head + "//" + authority, tail, nil
}

// appendTail appends path, query and fragment with what may not stand there
// percent-encoded. "?" is legal in query and fragment and starts the query in
// the path, so only the first "#" needs care.
func appendTail(dst, tail []byte) []byte {
	tail, fragment, ok := bytes.Cut(tail, []byte("#"))
	dst = appendLegal(dst, tail, inQuery)
	if !ok {
		return dst
	}
	return appendLegal(append(dst, '#'), fragment, inQuery)
}
