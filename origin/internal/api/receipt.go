package api

import (
	"math"
	"strconv"

	"waypost/origin/internal/links"
)

// Ack is the parameter of every write.
type Ack struct {
	Ack string `query:"ack" enum:"edges,commit" doc:"What to wait for before the answer: that PostgreSQL has committed, or that moreover no edge answers, unmarked, with what was before. edges if left out; Waypost-Propagation says how far the write got"`
}

// ack is what to wait for.
func (a Ack) ack() links.Ack {
	if a.Ack == "" {
		return links.AckEdges
	}
	return links.Ack(a.Ack)
}

// propagation is a receipt as a structured field (RFC 9651), a dictionary. It
// says what is known, whatever was asked for.
func propagation(r links.Receipt) string {
	return "ack=" + string(r.Ack) + ", edges=" + strconv.Itoa(r.Edges) + ", acked=" + strconv.Itoa(r.Acked) +
		", ms=" + strconv.FormatFloat(milliseconds(r), 'f', 1, 64)
}

func milliseconds(r links.Receipt) float64 {
	return math.Round(float64(r.Took.Microseconds())/100) / 10
}
