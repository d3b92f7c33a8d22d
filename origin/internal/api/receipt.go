package api

import (
	"strconv"

	"waypost/origin/internal/links"
)

// Ack is the parameter of every write.
type Ack struct {
	Ack string `query:"ack" enum:"edges,commit" doc:"What to wait for before the answer; Waypost-Propagation says how far the write got. edges if left out"`
}

// propagation is a receipt as a structured field (RFC 9651), a dictionary. It
// says what is known, whatever was asked for.
func propagation(r links.Receipt) string {
	ms := float64(r.Took.Microseconds()) / 1000
	return "ack=" + r.Ack + ", edges=" + strconv.Itoa(r.Edges) + ", acked=" + strconv.Itoa(r.Acked) +
		", ms=" + strconv.FormatFloat(ms, 'f', 1, 64)
}
