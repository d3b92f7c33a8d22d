package edgeapi

import (
	"encoding/binary"
	"fmt"
	"net/http"

	"waypost/shared/click"
	"waypost/shared/link"
)

// stretch answers POST /v1/clicks with the mark of the stretch's log, 8 bytes
// big-endian, from which the edge goes on, whether or not this stretch moved it.
//
// What can be counted at the same time is little, and what waits for it takes
// memory, so an edge that finds too many waiting is sent away: it comes back
// with more clicks in one stretch, which is what makes them cheap. A stretch is
// read from its connection before it takes a turn, which a slow edge would hold.
func (h *handler) stretch(r *http.Request) (answer, error) {
	select {
	case h.bodies <- struct{}{}:
		defer func() { <-h.bodies }()
	default:
		return answer{}, fmt.Errorf("stretches: %w: %w", errCrowded, link.ErrUnavailable)
	}
	body, err := readBody(r, click.MaxStretch)
	if err != nil {
		return answer{}, err
	}
	done, err := turn(r.Context(), h.stretches)
	if err != nil {
		return answer{}, err
	}
	defer done()
	st, err := click.ParseStretch(body)
	if err != nil {
		return answer{}, paramError("body: not in a format known here")
	}
	mark, applied, err := h.clicks.ApplyStretch(r.Context(), st)
	if err != nil {
		return answer{}, err
	}
	if applied && h.applied != nil {
		h.applied(st)
	}
	return answer{contentType: octets, body: binary.BigEndian.AppendUint64(nil, mark)}, nil
}

// use answers POST /v1/use. An edge asks once for each visitor: if no answer
// reaches it, a use may have been taken.
func (h *handler) use(r *http.Request) (answer, error) {
	q := parse(r)
	key := link.Key{Domain: q.domain("domain"), Code: q.code("code")}
	if err := q.fault(); err != nil {
		return answer{}, err
	}
	done, err := turn(r.Context(), h.uses)
	if err != nil {
		return answer{}, err
	}
	defer done()
	u, err := h.clicks.Use(r.Context(), key)
	if err != nil {
		return answer{}, err
	}
	return answer{epoch: u.Entry.Epoch, contentType: octets, body: u.Append(nil)}, nil
}
