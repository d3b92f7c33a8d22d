package link

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxRawAlias bounds the bytes that are normalised: NFC composes at most four
// runes of at most four bytes into one.
const maxRawAlias = MaxAlias * 4 * utf8.UTFMax

// ParseAlias returns the code that s stands for as the alias of a new link: s
// in NFC. The error's text is the reason of a refusal. An alias has 1 to
// MaxAlias letters (category L) and decimal digits (Nd) of any script, marks
// that belong to one of them, and "-", "_", "." and "~"; it does not start with
// "." and is not reserved.
func ParseAlias(s string) (code string, err error) {
	if len(s) > maxRawAlias {
		return "", reasonError(aliasTooLong)
	}
	if !utf8.ValidString(s) {
		return "", reasonError("is not valid UTF-8")
	}
	code = norm.NFC.String(s)
	if fault := codeFault([]byte(code)); fault != "" {
		return "", reasonError(fault)
	}
	if Reserved(code) {
		return "", reasonError("is a reserved word")
	}
	return code, nil
}

// Reserved reports whether code is, in any case, a word that no link may have:
// the paths that the services answer themselves, or may one day.
//
// It folds case as Unicode does (the long s of "docſ" is an s). Look-alikes
// that differ in more than case, such as full-width letters, are other words:
// no path of the services is reached by them.
func Reserved(code string) bool {
	for _, word := range [...]string{
		"api", "docs", "openapi.json", "openapi.yaml",
		"healthz", "livez", "readyz", "metrics", "debug",
		"admin", "static", "assets",
		"robots.txt", "favicon.ico", "sitemap.xml", "ads.txt", "humans.txt", "security.txt",
		"apple-touch-icon.png", "apple-touch-icon-precomposed.png",
	} {
		if strings.EqualFold(code, word) {
			return true
		}
	}
	return false
}

const aliasTooLong = "must have at most 64 characters"

// codeFault says why code, which is valid UTF-8 in NFC, can be neither an alias
// nor a generated code; "" if it can. Generated codes are aliases by their
// bytes, so one rule serves both.
func codeFault(code []byte) string {
	switch {
	case len(code) == 0:
		return "must not be empty"
	case code[0] == '.':
		return "must not start with a dot"
	}
	marks := false // whether a mark may come next
	// Counted here, as utf8.RuneCount allocates.
	for count := 1; len(code) > 0; count++ {
		r, size := utf8.DecodeRune(code)
		code = code[size:]
		switch {
		case count > MaxAlias:
			return aliasTooLong
		case unicode.IsLetter(r), unicode.IsDigit(r):
			marks = true
		case unicode.IsMark(r):
			if !marks {
				return "must not have a mark without a letter or digit before it"
			}
		case r == '-', r == '_', r == '.', r == '~':
			marks = false
		default:
			return `may have only letters, digits, "-", "_", "." and "~"`
		}
	}
	return ""
}
