package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// document is what the page shows of an OpenAPI 3.1 document.
type document struct {
	Info struct {
		Title, Description, Version string
	}
	Servers []struct {
		URL string `json:"url"`
	}
	Paths      map[string]map[string]operation
	Components struct {
		Schemas   map[string]*schema
		Responses map[string]response
		Headers   map[string]header
	}
}

type operation struct {
	OperationID string `json:"operationId"`
	Tags        []string
	Summary     string
	Description string
	Parameters  []parameter
	RequestBody struct {
		Content map[string]content
	} `json:"requestBody"`
	Responses map[string]response
}

type content struct{ Schema *schema }

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Headers     map[string]header
	Content     map[string]content
}

type header struct {
	Ref         string `json:"$ref"`
	Description string
	Schema      *schema
}

type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                *schema
}

type schema struct {
	Ref         string `json:"$ref"`
	Type        words
	Format      string
	Description string
	Enum        []any
	Items       *schema
	OneOf       []*schema `json:"oneOf"`
	AnyOf       []*schema `json:"anyOf"`
	Examples    []any
	Properties  map[string]*schema
	Required    []string
	Minimum     *float64
	Maximum     *float64
	MaxLength   *int `json:"maxLength"`
	MaxItems    *int `json:"maxItems"`
	MinItems    int  `json:"minItems"`
	Default     any
}

// words is a JSON string or a list of them.
type words []string

// UnmarshalJSON reads either.
func (w *words) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*w = words{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(w))
}

// follow puts what is referred to in the place of references to answers and headers.
func (d *document) follow() {
	for _, response := range d.Components.Responses {
		d.followHeaders(response)
	}
	for _, methods := range d.Paths {
		for _, op := range methods {
			for status, response := range op.Responses {
				if response.Ref != "" {
					op.Responses[status] = d.Components.Responses[refName(response.Ref)]
				}
				d.followHeaders(response)
			}
		}
	}
}

func (d *document) followHeaders(r response) {
	for name, header := range r.Headers {
		if header.Ref != "" {
			r.Headers[name] = d.Components.Headers[refName(header.Ref)]
		}
	}
}

// kind says what a value looks like, in words.
func (s *schema) kind() string {
	if s == nil {
		return ""
	}
	if s.Ref != "" {
		return refName(s.Ref)
	}
	if len(s.AnyOf) > 0 {
		var kinds []string
		for _, choice := range s.AnyOf {
			kinds = append(kinds, choice.kind())
		}
		return strings.Join(kinds, " or ")
	}
	kind := strings.Join(s.Type, " or ")
	if s.Items != nil {
		kind = strings.Replace(kind, "array", "list of "+s.Items.kind(), 1)
	}
	if s.Format == "date-time" {
		kind = strings.Replace(kind, "string", "time", 1)
	}
	return kind
}

// names are the schemas of the document that a body is made of.
func (s *schema) names() []string {
	var all []string
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		all = append(all, refName(s.Ref))
	}
	if s.Items != nil {
		all = append(all, s.Items.names()...)
	}
	for _, one := range s.OneOf {
		all = append(all, one.names()...)
	}
	return all
}

// bounds says which values are accepted, in words.
func (s *schema) bounds() string {
	var all []string
	enum := s.Enum
	if s.Items != nil && enum == nil {
		enum = s.Items.Enum
	}
	for _, choice := range s.AnyOf {
		enum = append(enum, choice.Enum...)
	}
	var names []string
	for _, v := range enum {
		if v != nil {
			names = append(names, fmt.Sprint(v))
		}
	}
	if len(names) > 0 {
		all = append(all, strings.Join(names, ", "))
	}
	for _, bound := range []struct {
		words string
		value *float64
	}{{"at least %.0f", s.Minimum}, {"at most %.0f", s.Maximum}} {
		if bound.value != nil {
			all = append(all, fmt.Sprintf(bound.words, *bound.value))
		}
	}
	if s.MaxLength != nil {
		all = append(all, fmt.Sprintf("at most %d characters", *s.MaxLength))
	}
	if s.MaxItems != nil {
		all = append(all, fmt.Sprintf("at most %d items", *s.MaxItems))
	}
	if s.Default != nil {
		all = append(all, fmt.Sprintf("%v if left out", s.Default))
	}
	return strings.Join(all, "; ")
}

func refName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// sortedKeys are a map's keys in order, since the document has none.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
