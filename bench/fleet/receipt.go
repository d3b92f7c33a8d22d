package fleet

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Receipt is how far a write got, as its answer says.
type Receipt struct {
	Ack          string // edges or commit
	Edges, Acked int
	Took         time.Duration
}

// Receipt reads the answer's Waypost-Propagation, such as `ack=edges, edges=2, acked=2, ms=3.1`. All four parts must
// be there.
func (a Answer) Receipt() (r Receipt, err error) {
	const header = "Waypost-Propagation"
	value := a.Header.Get(header)
	parts := map[string]string{}
	for part := range strings.SplitSeq(value, ", ") {
		name, is, _ := strings.Cut(part, "=")
		parts[name] = is
	}
	r.Ack = parts["ack"]
	if r.Edges, err = strconv.Atoi(parts["edges"]); err != nil {
		return r, fmt.Errorf("%s %q: edges: %w", header, value, err)
	}
	if r.Acked, err = strconv.Atoi(parts["acked"]); err != nil {
		return r, fmt.Errorf("%s %q: acked: %w", header, value, err)
	}
	ms, err := strconv.ParseFloat(parts["ms"], 64)
	if err != nil {
		return r, fmt.Errorf("%s %q: ms: %w", header, value, err)
	}
	r.Took = time.Duration(ms * float64(time.Millisecond))
	return r, nil
}
