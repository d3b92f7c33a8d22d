package api

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strconv"

	"waypost/shared/link"
)

// maxFaults bounds the faults that one answer lists.
const maxFaults = 50

// Problem is the body of every error (RFC 9457).
type Problem struct {
	Type   string  `json:"type" doc:"What kind of problem it is; about:blank means that the status says it all"`
	Title  string  `json:"title" doc:"The status in words"`
	Status int     `json:"status" doc:"The HTTP status"`
	Detail string  `json:"detail" doc:"What went wrong with this request"`
	Errors []Fault `json:"errors,omitempty" doc:"The refused fields, the first 50 of them; bad values only where names and types are right"`
}

// Fault names one refused field or parameter.
type Fault struct {
	Field  string `json:"field" doc:"Name of the field, or of the query parameter"`
	Reason string `json:"reason" doc:"Why it was refused"`
}

// problemError is a Problem on its way to the client.
type problemError struct {
	Problem
	header http.Header // to be sent along
}

func newProblem(status int, detail string) *problemError {
	return &problemError{Problem: Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}}
}

// with adds a header to the answer.
func (p *problemError) with(name, value string) *problemError {
	if p.header == nil {
		p.header = make(http.Header)
	}
	p.header.Set(name, value)
	return p
}

// faulty is the problem of an input with refused fields.
func faulty(fields []link.FieldError) *problemError {
	p := newProblem(http.StatusUnprocessableEntity, "the request has fields or parameters that were refused")
	for i, f := range fields {
		if i == maxFaults {
			p.Detail += "; only the first " + strconv.Itoa(maxFaults) + " are listed"
			break
		}
		p.Errors = append(p.Errors, Fault(f))
	}
	return p
}

// Error is the detail.
func (p *problemError) Error() string { return p.Detail }

// GetStatus makes it one of huma's errors.
func (p *problemError) GetStatus() int { return p.Status }

// GetHeaders names the headers that huma sends along.
func (p *problemError) GetHeaders() http.Header { return p.header }

// ContentType is the media type of problems whatever was negotiated.
func (p *problemError) ContentType(string) string { return mediaProblem }

const (
	mediaJSON    = "application/json"
	mediaPatch   = "application/merge-patch+json"
	mediaProblem = "application/problem+json"
)

// write answers with the problem, outside of an operation.
func (p *problemError) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.header)
	w.Header().Set("Content-Type", mediaProblem)
	w.WriteHeader(p.Status)
	_ = writeJSON(w, p) // strings and numbers
}

// writeJSON returns the error of an unfit value. That the client is gone is no
// fault of anybody's and not reported.
func writeJSON(w io.Writer, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // targets are URLs, full of &
	if err := enc.Encode(v); err != nil {
		return err
	}
	if answer, ok := w.(http.ResponseWriter); ok {
		answer.Header().Set("Content-Length", strconv.Itoa(buf.Len()))
	}
	_, _ = w.Write(buf.Bytes())
	return nil
}
