package link

import (
	"bytes"
	"strings"
)

// AppendLocation appends to dst where a request is sent: the stored target of
// its link, with the request's raw query (the bytes after "?") and the raw path
// suffix (as Path has it) added by the link's policies. On an error dst comes
// back as it was. Nothing is allocated if dst has room, unless a query whose
// names may not repeat has very many parameters.
//
// The request's bytes are kept; those that are illegal where they go are
// percent-encoded, a "%" without two hex digits in the query among them. They
// go behind the target's authority whatever they are, so a request never
// chooses the destination.
//
// ErrNotFound: a suffix where the policy is off, one with a dot segment, or one
// for a target without authority ("mailto:"). ErrMalformedPath: a suffix with a
// control byte or a bad percent-encoding. ErrMalformedQuery: a query with a
// control byte. What the policies drop is not judged.
func AppendLocation(dst []byte, target string, query Query, reqQuery []byte, suffix Suffix, pathSuffix []byte) ([]byte, error) {
	if query == QueryOff || query > QueryTarget { // an unknown policy forwards nothing
		reqQuery = nil
	}
	if len(reqQuery) == 0 && len(pathSuffix) == 0 {
		return append(dst, target...), nil
	}
	target, fragment := cutBefore(target, '#')
	target, targetQuery := cutBefore(target, '?')
	out := append(dst, target...)
	if len(pathSuffix) > 0 {
		if suffix != SuffixAppend || !hasAuthority(target) {
			return dst, ErrNotFound
		}
		if err := suffixFault(pathSuffix); err != nil {
			return dst, err
		}
		out = appendSuffix(out, target, pathSuffix)
	}
	if len(reqQuery) == 0 {
		out = append(out, targetQuery...)
		return append(out, fragment...), nil
	}
	if hasControl(reqQuery) {
		return dst, ErrMalformedQuery
	}
	out = appendQuery(out, strings.TrimPrefix(targetQuery, "?"), query, reqQuery)
	return append(out, fragment...), nil
}

// cutBefore cuts s before the first c, which tail starts with if there is one.
func cutBefore(s string, c byte) (head, tail string) {
	if i := strings.IndexByte(s, c); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// hasAuthority reports whether a target has an authority, so that a path may be
// added without becoming one.
func hasAuthority(target string) bool {
	_, rest, _ := strings.Cut(target, ":")
	return strings.HasPrefix(rest, "//")
}

// suffixFault judges a path suffix. A dot segment is not found however it is
// spelled: a client would resolve it against the target's own path.
func suffixFault(suffix []byte) error {
	if suffix[0] != '/' || hasControl(suffix) || hasBadEscape(suffix) {
		return ErrMalformedPath
	}
	for more := true; more; {
		var segment []byte
		segment, suffix, more = bytes.Cut(suffix, []byte("/"))
		if isDots(segment) {
			return ErrNotFound
		}
	}
	return nil
}

// isDots reports whether a path segment is "." or "..", each dot raw or as
// "%2e".
func isDots(segment []byte) bool {
	dots := 0
	for ; len(segment) > 0; dots++ {
		size := 1
		c := segment[0]
		if b, ok := unescape(segment); ok {
			c, size = b, 3
		}
		if c != '.' || dots == 2 {
			return false
		}
		segment = segment[size:]
	}
	return dots > 0
}

// appendSuffix appends suffix to out, which ends with target (scheme, authority
// and path), with one slash between the two paths.
func appendSuffix(out []byte, target string, suffix []byte) []byte {
	// The slashes before the authority are not the path's.
	if _, rest, _ := strings.Cut(target, "://"); strings.HasSuffix(rest, "/") {
		suffix = suffix[1:]
	}
	return appendLegal(out, suffix, inPath)
}
