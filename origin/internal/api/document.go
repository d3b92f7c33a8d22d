package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"waypost/shared/link"
)

// about tells what holds for all paths and stands at no operation.
const about = "Short links answered at the edge, changed from one place. " +
	"Every path answers `HEAD` where it answers `GET`, and `OPTIONS`, without a key, with its methods. " +
	"`X-Request-Id` is answered as it was sent, if it has 1 to 64 letters, digits, dots, dashes or underscores, else with one that is made. " +
	"Answers of 1 KiB and more are compressed for clients whose `Accept-Encoding` prefers `gzip`, but never those with an `ETag`. " +
	"Pages of the origins that the service is set up for may call it from a browser; they send the key as everybody does."

// newHuma sets the library up to describe operations, read parameters and write
// answers, and to leave everything else to this package.
func newHuma(mux *http.ServeMux, version string) huma.API {
	format := huma.Format{Marshal: writeJSON, Unmarshal: json.Unmarshal}
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Waypost", Version: version,
				Description: about,
			},
			Servers: []*huma.Server{{URL: prefix}},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
				SecuritySchemes: map[string]*huma.SecurityScheme{"key": {
					Type: "http", Scheme: "bearer", Description: "An API key",
				}},
			},
		},
		Formats:       map[string]huma.Format{mediaJSON: format, "json": format},
		DefaultFormat: mediaJSON,
		// The library's hook for errors is a global function that all APIs of a
		// process share; its transformers belong to one API.
		Transformers: []huma.Transformer{asProblem},
	}
	return humago.NewWithPrefix(mux, prefix, config)
}

// asProblem turns the errors that the library makes by itself into ours, should
// there be any: parameters are held against the document before it reads them.
func asProblem(_ huma.Context, _ string, v any) (any, error) {
	model, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	var fields []link.FieldError
	for _, d := range model.Errors {
		fields = append(fields, link.FieldError{Field: parameter(d.Location), Reason: d.Message})
	}
	p := faulty(fields)
	p.Status, p.Title = model.Status, http.StatusText(model.Status) // as it was sent
	return p, nil
}

// parameter is the name in "query.limit" or "header.If-Match".
func parameter(location string) string {
	_, name, ok := strings.Cut(location, ".")
	if !ok {
		return location
	}
	return name
}

// render returns the document as JSON, once all operations are registered.
func (a *API) render() ([]byte, error) {
	schemas := a.huma.OpenAPI().Components.Schemas.Map()
	// The library registers its own errors with every operation; none is ever sent.
	for _, t := range []reflect.Type{reflect.TypeFor[huma.ErrorModel](), reflect.TypeFor[huma.ErrorDetail]()} {
		delete(schemas, t.Name())
	}
	describeLeftOut(schemas)
	choices(schemas)
	b, err := json.Marshal(a.huma.OpenAPI())
	if err != nil {
		return nil, fmt.Errorf("OpenAPI document: %w", err)
	}
	return b, nil
}

func (a *API) schemaOf(t reflect.Type) *huma.Schema {
	return a.huma.OpenAPI().Components.Schemas.Schema(t, true, t.Name())
}

// static serves bytes that never change while the process lives.
func static(media string, b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b) // fails only if the client is gone
	}
}

// redirect leads to another path of this server, without a page that says so.
func redirect(path string, status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", path)
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(status)
	}
}
