package api

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"waypost/shared/link"
)

// query holds a request's query against the parameters that its operation has
// in the document, and names every fault in the words that bodies are refused
// with. The library stops at the first kind of fault and has words of its own.
func (a *API) query(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		newProblem(http.StatusBadRequest, "the query is malformed: it must be name=value, percent-encoded and separated by &").write(w)
		return
	}
	if faults := queryFaults(ctx.Operation().Parameters, values); len(faults) > 0 {
		faulty(faults).write(w)
		return
	}
	next(ctx)
}

func queryFaults(parameters []*huma.Param, values url.Values) []link.FieldError {
	var faults []link.FieldError
	for _, name := range slices.Sorted(maps.Keys(values)) {
		i := slices.IndexFunc(parameters, func(p *huma.Param) bool { return p.In == "query" && p.Name == name })
		var reason string
		switch {
		case i < 0:
			reason = "is not a known parameter"
		case len(values[name]) > 1:
			reason = "is given more than once"
		default:
			reason = refusal(parameters[i].Schema, values.Get(name))
		}
		if reason != "" {
			faults = append(faults, link.FieldError{Field: shorten(name), Reason: reason})
		}
	}
	return faults
}

// refusal says why the value does not fit the schema, "" if it does. An empty
// value is as if left out, and what a schema does not bound is for the rules of
// package links.
func refusal(s *huma.Schema, value string) string {
	switch {
	case value == "":
		return ""
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, word := range s.Enum {
			words[i], _ = word.(string)
		}
		if slices.Contains(words, value) {
			return ""
		}
		last := len(words) - 1
		if last == 0 {
			return "must be " + words[0]
		}
		return "must be " + strings.Join(words[:last], ", ") + " or " + words[last]
	case s.Type == huma.TypeInteger:
		n, err := strconv.ParseInt(value, 10, 64)
		bounded := s.Minimum != nil && s.Maximum != nil
		switch {
		case bounded && (err != nil || float64(n) < *s.Minimum || float64(n) > *s.Maximum):
			return fmt.Sprintf("must be a whole number from %.0f to %.0f", *s.Minimum, *s.Maximum)
		case err != nil:
			return "must be a whole number"
		}
	}
	return ""
}
