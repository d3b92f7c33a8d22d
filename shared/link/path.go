package link

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Path is a request's path, taken apart. Its slices alias the parsed path or
// the buffer given with it.
type Path struct {
	Code    []byte // decoded once, NFC; empty only for the path "/"
	Suffix  []byte // raw bytes after the code, starting with "/"; nil if there are none
	Preview bool   // the code was followed by "+"
}

// ParsePath takes apart the raw bytes of a request target up to its "?". buf is
// scratch space from its start to its capacity, written only where the code is
// percent-encoded or not ASCII. With 1 KiB of it nothing is allocated for the
// code of any link, unless it comes decomposed and must be normalised.
//
// The path "/" gives the zero Path. "/{code}/" is "/{code}"; whatever is longer
// has a suffix. A code that no link can have is ErrNotFound, and so is a suffix
// after a preview. A bad percent-encoding, invalid UTF-8 or a raw control byte
// in the code is ErrMalformedPath; the suffix is judged by AppendLocation.
func ParsePath(path, buf []byte) (Path, error) {
	if len(path) == 0 || path[0] != '/' {
		return Path{}, ErrMalformedPath
	}
	if len(path) == 1 {
		return Path{}, nil
	}
	// The plain code ends where the first byte of another kind stands.
	end := 1
	for end < len(path) && octets[path[end]]&inCode != 0 {
		end++
	}
	code, rest := path[1:end], path[end:]
	preview := len(rest) > 0 && rest[0] == '+'
	if preview {
		rest = rest[1:]
	}
	if len(rest) > 0 && rest[0] != '/' {
		return parseEncoded(path, buf)
	}
	if len(code) == 0 || len(code) > MaxAlias || code[0] == '.' {
		return Path{}, ErrNotFound
	}
	return newPath(code, rest, preview)
}

// parseEncoded is ParsePath for a code that is not plain ASCII.
func parseEncoded(path, buf []byte) (Path, error) {
	code, rest := path[1:], []byte(nil)
	if i := bytes.IndexByte(code, '/'); i >= 0 {
		code, rest = code[:i], code[i:]
	}
	// Only a raw "+" asks for a preview: "%2B" would be part of the code.
	code, preview := bytes.CutSuffix(code, []byte("+"))
	code, err := decodeCode(code, buf)
	if err != nil {
		return Path{}, err
	}
	return newPath(code, rest, preview)
}

// newPath applies what "/{code}/" and "/{code}+" mean to rest, the bytes after
// the code and its "+".
func newPath(code, rest []byte, preview bool) (Path, error) {
	if len(rest) <= 1 {
		return Path{Code: code, Preview: preview}, nil
	}
	if preview {
		return Path{}, ErrNotFound
	}
	return Path{Code: code, Suffix: rest}, nil
}

// decodeCode percent-decodes raw once and normalises it, in buf.
func decodeCode(raw, buf []byte) ([]byte, error) {
	code := buf[:0]
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case isControl(c):
			return nil, ErrMalformedPath
		case c == '%':
			b, ok := unescape(raw[i:])
			if !ok {
				return nil, ErrMalformedPath
			}
			c = b
			i += 2
		}
		code = append(code, c)
	}
	if !utf8.Valid(code) {
		return nil, ErrMalformedPath
	}
	if len(code) > maxRawAlias {
		return nil, ErrNotFound
	}
	if !norm.NFC.IsNormal(code) {
		code = norm.NFC.Append(code[len(code):], code...)
	}
	if codeFault(code) != "" {
		return nil, ErrNotFound
	}
	return code, nil
}
