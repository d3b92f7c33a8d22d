package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// tag groups operations by what they are about: the first word of the path.
func (op *operation) tag() string {
	word, _, _ := strings.Cut(strings.TrimPrefix(op.path, "/"), "/")
	return word
}

// describe completes what the library tells of a registered operation: all its
// statuses, their headers, and the body that it takes.
func (a *API) describe(h *huma.Operation, op *operation) {
	success := h.Responses[strconv.Itoa(op.status)]
	if success.Headers == nil {
		success.Headers = make(map[string]*huma.Param)
	}
	success.Headers[requestID] = a.header(requestID)
	delete(success.Headers, "Content-Type") // the content says it
	if op.limited {
		success.Headers[rateLimit], success.Headers[rateLimitPolicy] = a.header(rateLimit), a.header(rateLimitPolicy)
	}
	for _, header := range success.Headers {
		if header.Schema != nil {
			header.Description = header.Schema.Description // some tools look for it here alone
		}
	}
	for _, status := range op.also {
		described := *success
		described.Description = http.StatusText(status)
		if status == http.StatusNotModified {
			described.Content = nil
		}
		h.Responses[strconv.Itoa(status)] = &described
	}
	for _, status := range op.refusals() {
		h.Responses[strconv.Itoa(status)] = a.refusal(status, op.limited)
	}
	if len(op.pictures) > 0 {
		success.Content = make(map[string]*huma.MediaType)
		for _, media := range op.pictures {
			success.Content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
		}
	}
	if len(op.events) > 0 {
		events := &huma.Schema{Description: "Server-sent events; the data of each is JSON"}
		for _, event := range op.events {
			events.OneOf = append(events.OneOf, a.schemaOf(event))
		}
		success.Content = map[string]*huma.MediaType{mediaEvents: {Schema: events}}
	}
	if op.body != nil {
		// Set last: huma validates by a schema that it finds at registration, and
		// knows neither null for "default" nor items that fail alone.
		h.RequestBody.Required = true
		h.RequestBody.Content = make(map[string]*huma.MediaType)
		for _, media := range op.body.media {
			h.RequestBody.Content[media] = &huma.MediaType{Schema: a.schemaOf(op.body.schema)}
		}
	}
}
