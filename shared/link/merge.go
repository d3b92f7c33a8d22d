package link

import "bytes"

// appendQuery appends "?" and both queries merged by the policy: the target's
// parameters, then the request's, of which there is at least one. On a clash of
// names the loser's are left out, the rest keep their place.
func appendQuery(out []byte, targetQuery string, policy Query, reqQuery []byte) []byte {
	out = append(out, '?')
	start := len(out)
	out = append(out, targetQuery...)
	some := len(targetQuery) > 0 // whether a parameter stands before
	var taken names              // of the target, where they win
	switch policy {
	case QueryRequest:
		out, some = dropParams(out, start, newNames(reqQuery))
	case QueryTarget:
		taken = newNames(out[start:])
	default:
	}
	for more := true; more; {
		var param []byte
		param, reqQuery, more = bytes.Cut(reqQuery, []byte("&"))
		if taken.has(param) {
			continue
		}
		if some {
			out = append(out, '&')
		}
		out = appendLegal(out, param, inQuery)
		some = true
	}
	return out
}

// dropParams removes the parameters with the given names from the query that
// starts at start, in place; some is false if nothing is left.
func dropParams(out []byte, start int, drop names) (kept []byte, some bool) {
	query := out[start:]
	kept = out[:start]
	for more := len(query) > 0; more; {
		var param []byte
		param, query, more = bytes.Cut(query, []byte("&"))
		if drop.has(param) {
			continue
		}
		// Never more bytes than were read, so nothing unread is overwritten.
		if some {
			kept = append(kept, '&')
		}
		kept = append(kept, param...)
		some = true
	}
	return kept, some
}

// fewNames is how many parameters are compared one by one. Beyond it a query of
// many parameters would make one request cost the product of both lengths.
const fewNames = 16

// names is the set of a query's parameter names, compared decoded. An empty
// parameter (nothing between two "&") has no name. The zero value is empty.
type names struct {
	query []byte
	many  map[string]struct{} // decoded; nil for a query of few parameters
}

func newNames(query []byte) names {
	n := names{query: query}
	if bytes.Count(query, []byte("&")) < fewNames {
		return n
	}
	n.many = make(map[string]struct{})
	for more := true; more; {
		var param []byte
		param, query, more = bytes.Cut(query, []byte("&"))
		if len(param) > 0 {
			n.many[string(appendDecoded(nil, paramName(param)))] = struct{}{}
		}
	}
	return n
}

// has reports whether the set has the name of param.
func (n names) has(param []byte) bool {
	if len(param) == 0 || len(n.query) == 0 {
		return false
	}
	name := paramName(param)
	if n.many != nil {
		var buf [64]byte
		_, ok := n.many[string(appendDecoded(buf[:0], name))]
		return ok
	}
	rest := n.query
	for more := true; more; {
		var other []byte
		other, rest, more = bytes.Cut(rest, []byte("&"))
		if len(other) > 0 && sameName(name, paramName(other)) {
			return true
		}
	}
	return false
}

func paramName(param []byte) []byte {
	name, _, _ := bytes.Cut(param, []byte("="))
	return name
}

func sameName(a, b []byte) bool {
	for len(a) > 0 && len(b) > 0 {
		x, i := decodeFirst(a)
		y, j := decodeFirst(b)
		if x != y {
			return false
		}
		a, b = a[i:], b[j:]
	}
	return len(a) == len(b)
}

func appendDecoded(dst, name []byte) []byte {
	for len(name) > 0 {
		c, size := decodeFirst(name)
		dst = append(dst, c)
		name = name[size:]
	}
	return dst
}

// decodeFirst decodes the first byte of a name and says how many bytes spell
// it. A "%" without two hex digits stands for itself, as it will once encoded.
func decodeFirst(name []byte) (c byte, size int) {
	if name[0] == '+' {
		return ' ', 1
	}
	if c, ok := unescape(name); ok {
		return c, 3
	}
	return name[0], 1
}
