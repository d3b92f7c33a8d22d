package visitor

import (
	"strings"

	"waypost/shared/click"
)

// rawLanguage cuts the first tag out of an Accept-Language header's bytes; nil
// where there is none that is short enough.
func rawLanguage(accept []byte) []byte {
	const most = click.MaxLanguage + 8 // blanks around it
	accept = accept[:min(len(accept), most)]
	for i, c := range accept {
		if c == ',' || c == ';' {
			accept = accept[:i]
			break
		}
	}
	for len(accept) > 0 && isBlank(accept[0]) {
		accept = accept[1:]
	}
	for len(accept) > 0 && isBlank(accept[len(accept)-1]) {
		accept = accept[:len(accept)-1]
	}
	if len(accept) > click.MaxLanguage {
		return nil
	}
	return accept
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// languageOf is the tag in lower case; "" for what is no tag, "*" among it.
func languageOf(raw string) string {
	for i, c := range []byte(raw) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return ""
		}
	}
	return strings.ToLower(raw)
}
