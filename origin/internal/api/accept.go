package api

import (
	"strconv"
	"strings"
)

// codings are how much a client likes the two forms that a body can have, in
// thousandths; 0: not at all (RFC 9110, 12.5.3).
type codings struct{ gzip, plain int }

// parseCodings reads the lines of an Accept-Encoding header. Without one the
// client gets what it can read in any case. Items that are malformed say nothing.
func parseCodings(lines []string) codings {
	const unsaid = -1
	gzip, plain, rest := unsaid, unsaid, unsaid
	for item := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		name, parameters, weighted := strings.Cut(item, ";")
		weight := 1000
		if weighted {
			var ok bool
			if weight, ok = parseWeight(parameters); !ok {
				continue
			}
		}
		switch strings.ToLower(strings.Trim(name, " \t")) {
		case "gzip", "x-gzip":
			gzip = max(gzip, weight)
		case "identity":
			plain = max(plain, weight)
		case "*":
			rest = max(rest, weight)
		}
	}
	if gzip == unsaid {
		gzip = max(rest, 0)
	}
	switch {
	case plain == unsaid && rest == unsaid:
		plain = 1 // acceptable, but whatever is named comes first
	case plain == unsaid:
		plain = rest
	}
	return codings{gzip: gzip, plain: plain}
}

// parseWeight reads "q=0.5" in thousandths (RFC 9110, 12.4.2).
func parseWeight(parameter string) (thousandths int, ok bool) {
	name, value, _ := strings.Cut(strings.Trim(parameter, " \t"), "=")
	whole, decimals, dotted := strings.Cut(value, ".")
	if !strings.EqualFold(name, "q") || whole != "0" && whole != "1" || len(decimals) > 3 {
		return 0, false
	}
	if dotted {
		whole += (decimals + "000")[:3]
	} else {
		whole += "000"
	}
	n, err := strconv.ParseUint(whole, 10, 16)
	return int(n), err == nil && n <= 1000
}

// gzipFor reports whether a body of so many bytes goes out compressed. A client
// that takes neither form gets the plain one, as if it had not said so.
func (c codings) gzipFor(size int) bool {
	return c.gzip > 0 && c.gzip >= c.plain && (size >= minGzip || c.plain == 0)
}
