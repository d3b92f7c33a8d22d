package api

import (
	"context"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// operation is what a route is registered with.
type operation struct {
	method, path string
	id, summary  string
	scope        string // that the key must have
	status       int    // of success
	also         []int  // further statuses of success, with the same body where the status has one
	body         *body  // nil: none is read
	note         string // added to the description

	events []reflect.Type // of the stream that the answer is; none: it is no stream
}

// body is what is read of a request.
type body struct {
	schema reflect.Type // for the document; operations decode by themselves
	limit  int64        // bytes
	media  []string     // accepted; none sent counts as JSON

	turns chan struct{} // one for each request at the same time, taken before the body is read; nil: any number
}

func bodyOf[T any](limit int64, media ...string) *body {
	return &body{schema: reflect.TypeFor[T](), limit: limit, media: media}
}

// route registers an operation. The key is checked first, then the query, then
// the body is read.
func route[I, O any](a *API, op operation, handle func(context.Context, *I) (*O, error)) {
	h := huma.Operation{
		Method: op.method, Path: op.path, OperationID: op.id, Summary: op.summary,
		DefaultStatus: op.status,
		Security:      []map[string][]string{{"key": {op.scope}}},
		Description:   strings.TrimSpace("Needs the scope `" + op.scope + "`. " + op.note),
		Middlewares:   huma.Middlewares{a.admit(op.scope), a.query, a.read(op.body)},
		Responses: map[string]*huma.Response{"default": {
			Description: "Problem",
			Content:     map[string]*huma.MediaType{mediaProblem: {Schema: a.schemaOf(reflect.TypeFor[Problem]())}},
		}},
	}
	if op.body != nil {
		h.RequestBody = &huma.RequestBody{}
	}
	huma.Register(a.huma, h, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, a.problemOf(ctx, err)
		}
		return out, nil
	})
	for _, status := range op.also {
		described := *h.Responses[strconv.Itoa(op.status)]
		described.Description = http.StatusText(status)
		if status == http.StatusNotModified {
			described.Content = nil
		}
		h.Responses[strconv.Itoa(status)] = &described
	}
	if len(op.events) > 0 {
		events := &huma.Schema{Description: "Server-sent events; the data of each is JSON"}
		for _, event := range op.events {
			events.OneOf = append(events.OneOf, a.schemaOf(event))
		}
		h.Responses[strconv.Itoa(op.status)].Content = map[string]*huma.MediaType{mediaEvents: {Schema: events}}
	}
	if op.body != nil {
		// Set last: huma validates by a schema that it finds at registration, and
		// knows neither null for "default" nor items that fail alone.
		h.RequestBody.Content = make(map[string]*huma.MediaType)
		for _, media := range op.body.media {
			h.RequestBody.Content[media] = &huma.MediaType{Schema: a.schemaOf(op.body.schema)}
		}
	}
}

// page registers something to read that is no operation of the document.
func (a *API) page(pattern string, h http.Handler) {
	a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if p := a.throttled(r); p != nil {
			p.write(w)
			return
		}
		h.ServeHTTP(w, r)
	})
}
