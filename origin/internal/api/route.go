package api

import (
	"context"
	"net/http"
	"reflect"
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
	fails        []int  // statuses of problems, besides those of every operation of its kind
	body         *body  // nil: none is read
	limited      bool   // it takes tokens of the key's allowance
	note         string // added to the description

	pictures []string       // media types of the answer; none: it is no picture
	events   []reflect.Type // of the stream that the answer is; none: it is no stream
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
		Tags:          []string{op.tag()},
		Security:      []map[string][]string{{"key": {op.scope}}},
		Description:   strings.TrimSpace("Needs the scope `" + op.scope + "`. " + op.note + op.limitNote()),
		Middlewares:   huma.Middlewares{a.admit(op.scope), a.query, a.read(op.body)},
		Responses:     map[string]*huma.Response{"default": a.refusal(0, op.limited)},

		SkipValidateParams: true, // a.query and the operations do that, in words of ours
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
	a.describe(&h, &op)
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
