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
	_, rest, ok := bytes.Cut(referrer[:min(len(referrer), maxReferrer)], []byte("://"))
	if !ok {
		return nil
	}
	for i, c := range rest {
		if c == '/' || c == '?' || c == '#' || c == '\\' {
			rest = rest[:i]
			break
		}
	}
	if at := bytes.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	if len(rest) > 0 && rest[0] == '[' {
		if end := bytes.IndexByte(rest, ']'); end >= 0 {
			return rest[:end+1]
		}
		return nil
	}
	if port := bytes.IndexByte(rest, ':'); port >= 0 {
		rest = rest[:port]
	}
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
