package visitor

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"waypost/shared/click"
)

// rawHost cuts the host out of a Referer header's bytes, as it stands there:
// what lies behind it, path, query and fragment, is nobody's business and may
// be long. Nil where there is none.
func rawHost(referrer []byte) []byte {
	rest := authority(referrer[:min(len(referrer), maxReferrer)])
	start, port := 0, -1 // of the host, and the first colon behind that
scan:
	for i, c := range rest {
		switch c {
		case '/', '?', '#', '\\':
			rest = rest[:i]
			break scan
		case '@':
			start, port = i+1, -1
		case ':':
			if port < 0 {
				port = i
			}
		}
	}
	if start < len(rest) && rest[start] == '[' {
		if end := bytes.IndexByte(rest[start:], ']'); end >= 0 {
			return rest[start : start+end+1]
		}
		return nil
	}
	if port >= 0 {
		rest = rest[:port]
	}
	return rest[start:]
}

// authority is what comes behind the scheme; nil where there is none.
func authority(referrer []byte) []byte {
	const usual = "https://"
	if len(referrer) > len(usual) && string(referrer[:len(usual)]) == usual {
		return referrer[len(usual):]
	}
	_, rest, _ := bytes.Cut(referrer, []byte("://"))
	return rest
}

// maxReferrer is how many bytes of a Referer header are looked at: enough for
// scheme, user and host.
const maxReferrer = 1 << 10

// hostOf is the host as it is counted: in lower case, without a trailing dot.
// What cannot be a host's name is "", as if the visitor had come directly.
func hostOf(raw string) string {
	if !utf8.ValidString(raw) || strings.ContainsFunc(raw, notInHost) {
		return ""
	}
	host := strings.TrimSuffix(strings.ToLower(raw), ".")
	if len(host) > click.MaxReferrer {
		return ""
	}
	return host
}

func notInHost(r rune) bool {
	return unicode.IsControl(r) || unicode.IsSpace(r) || strings.ContainsRune(`"<>^|%{}`+"`", r)
}
