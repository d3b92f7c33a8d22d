package edgeapi

import (
	"net/http"

	"waypost/shared/feed"
)

// maxProbe bounds the body of a probe or an acknowledgement, which have at most
// some 900 bytes.
const maxProbe = 2 << 10

// probe answers POST /v1/probe.
func (h *handler) probe(r *http.Request) (answer, error) {
	p, err := read(r, maxProbe, feed.ParseProbe)
	if err != nil {
		return answer{}, err
	}
	heads, err := h.edges.Answer(r.Context(), p)
	return headsAnswer(heads, err)
}

// heads answers GET /v1/heads, which is to look at: no lease rests on it, and
// nobody needs the salts that stand in it.
func (h *handler) heads(r *http.Request) (answer, error) {
	heads, err := h.edges.Heads(r.Context())
	if err != nil {
		return answer{}, err
	}
	bare := *heads
	bare.Salts = nil
	return headsAnswer(&bare, nil)
}

func headsAnswer(heads *feed.Heads, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	return answer{epoch: heads.Epoch, contentType: octets, body: heads.Append(nil)}, nil
}

// ack answers POST /v1/ack, with nothing.
func (h *handler) ack(r *http.Request) (answer, error) {
	a, err := read(r, maxProbe, feed.ParseAck)
	if err != nil {
		return answer{}, err
	}
	h.acks.Ack(a)
	return answer{contentType: octets}, nil
}
