package edgeapi

import (
	"errors"
	"io"
	"net/http"

	"waypost/shared/feed"
)

// maxBody bounds the body of a probe or an acknowledgement, which have at most
// some 900 bytes.
const maxBody = 2 << 10

// probe answers POST /v1/probe.
func (h *handler) probe(r *http.Request) (answer, error) {
	p, err := read(r, feed.ParseProbe)
	if err != nil {
		return answer{}, err
	}
	heads, err := h.edges.Answer(r.Context(), p)
	return headsAnswer(heads, err)
}

// heads answers GET /v1/heads, which is to look at: no lease rests on it.
func (h *handler) heads(r *http.Request) (answer, error) {
	heads, err := h.edges.Heads(r.Context())
	return headsAnswer(heads, err)
}

func headsAnswer(heads *feed.Heads, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	return answer{epoch: heads.Epoch, contentType: octets, body: heads.Append(nil)}, nil
}

// ack answers POST /v1/ack, with nothing.
func (h *handler) ack(r *http.Request) (answer, error) {
	a, err := read(r, feed.ParseAck)
	if err != nil {
		return answer{}, err
	}
	h.acks.Ack(a)
	return answer{contentType: octets}, nil
}

// read reads a request's body. The error is a paramError.
func read[T any](r *http.Request, parse func([]byte) (T, error)) (T, error) {
	var none T
	b, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return none, paramError("body: too large")
	}
	if err != nil {
		return none, paramError("body: did not arrive whole")
	}
	v, err := parse(b)
	if err != nil {
		return none, paramError("body: not in a format known here")
	}
	return v, nil
}
