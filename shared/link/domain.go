package link

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// ParseDomain returns the form in which a short domain is registered and
// compared: ASCII in lower case, mapped by UTS 46, without trailing dot. The
// error's text is the reason of a refusal. Ports, addresses in brackets, "_"
// and labels with "-" at an end are refused; the default domain "" is not
// registered and refused too.
func ParseDomain(s string) (string, error) {
	switch {
	case s == "":
		return "", reasonError("must not be empty")
	case !utf8.ValidString(s):
		return "", reasonError("is not valid UTF-8")
	case strings.ContainsAny(s, ":[]/@"):
		return "", reasonError("must be a host name alone, without scheme, port or path")
	}
	name, err := mapHost(s)
	if err != nil {
		return "", err
	}
	if fault := hostFault(name); fault != "" {
		return "", reasonError(fault)
	}
	name = strings.TrimSuffix(name, ".")
	for label := range strings.SplitSeq(name, ".") {
		if label[0] == '-' || label[len(label)-1] == '-' || strings.Contains(label, "_") {
			return "", reasonError(`must have labels of letters, digits and inner "-"`)
		}
	}
	return name, nil
}

// AppendHost appends a request's host as domains are registered: lower case,
// without port and trailing dot. It judges nothing: a host that is no domain is
// not registered. Nothing is allocated if dst has room.
func AppendHost(dst, host []byte) []byte {
	if bytes.HasPrefix(host, []byte("[")) {
		host = host[:bytes.IndexByte(host, ']')+1] // the colons of IPv6 are no ports
	} else {
		host, _, _ = bytes.Cut(host, []byte(":"))
	}
	host = bytes.TrimSuffix(host, []byte("."))
	for _, c := range host {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}
