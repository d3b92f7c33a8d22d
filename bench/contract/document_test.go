package contract

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

func (s *stage) documentIsOne(t *testing.T) {
	if s.doc.OpenAPI != "3.1.0" {
		t.Errorf("openapi = %q, want 3.1.0", s.doc.OpenAPI)
	}
	if err := s.doc.Validate(t.Context()); err != nil {
		t.Errorf("the document is not valid: %v", err)
	}
	seen := make(map[string]*operation)
	for _, op := range s.operations {
		if other := seen[op.OperationID]; other != nil {
			t.Errorf("%s and %s have one operationId, %q", op, other, op.OperationID)
		}
		seen[op.OperationID] = op
	}
}

func (s *stage) everythingIsDescribed(t *testing.T) {
	for _, op := range s.operations {
		if op.OperationID == "" || op.Summary == "" || op.Description == "" || len(op.Tags) == 0 {
			t.Errorf("%s lacks one of operationId, summary, description and tags", op)
		}
		if op.scope() == "" || op.Responses.Default() == nil {
			t.Errorf("%s lacks a scope or the default answer", op)
		}
		if op.method != http.MethodGet && op.scope() != "links:write" && op.scope() != "admin" {
			t.Errorf("%s writes, and a key with the scope %s may call it", op, op.scope())
		}
		for _, p := range op.Parameters {
			if p.Value.Description == "" {
				t.Errorf("%s: the parameter %s is not described", op, p.Value.Name)
			}
			if p.Value.In == "path" && len(p.Value.Schema.Value.Examples) == 0 {
				t.Errorf("%s: the parameter %s has no example", op, p.Value.Name)
			}
		}
		for status, response := range op.Responses.Map() {
			if response.Value.Description == nil || *response.Value.Description == "" {
				t.Errorf("%s: the answer %s is not described", op, status)
			}
			for name, header := range response.Value.Headers {
				if header.Value.Description == "" {
					t.Errorf("%s: the header %s of a %s is not described", op, name, status)
				}
			}
		}
	}
	for name, schema := range s.doc.Components.Schemas {
		for field, property := range schema.Value.Properties {
			if property.Value.Description == "" {
				t.Errorf("%s.%s is not described", name, field)
			}
		}
	}
}

// Examples are what is copied first: each fits its own schema, and together those of a body make one that is taken.
func (s *stage) examplesAreTaken(t *testing.T) {
	for name, schema := range s.doc.Components.Schemas {
		for field, property := range schema.Value.Properties {
			for _, example := range property.Value.Examples {
				if err := s.schemas.fits(property.Value, example); err != nil {
					t.Errorf("example of %s.%s: %v", name, field, err)
				}
			}
		}
	}
	for _, op := range s.operations {
		schema := op.bodySchema()
		if schema == nil {
			continue
		}
		body := exampleOf(schema)
		if err := s.schemas.fits(schema, body); err != nil {
			b, _ := json.Marshal(body)
			t.Errorf("%s: the example %s is not what the schema describes: %v", op, b, err)
		}
		for _, field := range schema.Required {
			if _, ok := body[field]; !ok {
				t.Errorf("%s: the required field %s has no example", op, field)
			}
		}
	}
}

// exampleOf is an object of the examples that its fields have.
func exampleOf(schema *openapi3.Schema) map[string]any {
	body := make(map[string]any)
	for _, field := range slices.Sorted(maps.Keys(schema.Properties)) {
		p := schema.Properties[field].Value
		switch {
		case len(p.Examples) > 0:
			body[field] = p.Examples[0]
		case p.Type.Includes("array") && p.Items != nil && strings.HasPrefix(p.Items.Ref, "#/"):
			body[field] = []any{exampleOf(p.Items.Value)}
		}
	}
	return body
}
