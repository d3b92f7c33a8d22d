package edgeapi

import (
	"errors"
	"io"
	"net/http"
)

// errTooLarge is a 413.
var errTooLarge = errors.New("body: too large")

// read reads and parses a request's body of at most so many bytes. The error is
// errTooLarge or a paramError.
func read[T any](r *http.Request, most int64, parse func([]byte) (T, error)) (T, error) {
	var none T
	b, err := readBody(r, most)
	if err != nil {
		return none, err
	}
	v, err := parse(b)
	if err != nil {
		return none, paramError("body: not in a format known here")
	}
	return v, nil
}

func readBody(r *http.Request, most int64) ([]byte, error) {
	b, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, most))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, errTooLarge
	}
	if err != nil {
		return nil, paramError("body: did not arrive whole")
	}
	return b, nil
}
