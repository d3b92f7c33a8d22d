package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas holds values against the schemas of a document, each of which is compiled once. The library that reads the
// document can do that too, but compiles a schema for every value.
type schemas struct {
	components any // of the document, for references
	compiled   map[*openapi3.Schema]*jsonschema.Schema
}

func newSchemas(t *testing.T, document []byte) *schemas {
	t.Helper()
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatalf("the document: %v", err)
	}
	members, _ := root.(map[string]any)
	return &schemas{components: members["components"], compiled: make(map[*openapi3.Schema]*jsonschema.Schema)}
}

// fits says why a value is not what the schema describes, formats included.
func (s *schemas) fits(schema *openapi3.Schema, value any) error {
	if s.compiled[schema] == nil {
		compiled, err := s.compile(schema)
		if err != nil {
			return fmt.Errorf("the schema is none: %w", err)
		}
		s.compiled[schema] = compiled
	}
	return s.compiled[schema].Validate(value)
}

func (s *schemas) compile(schema *openapi3.Schema) (*jsonschema.Schema, error) {
	b, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	one, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	const name = "schema.json"
	if err := compiler.AddResource(name, map[string]any{"components": s.components, "allOf": []any{one}}); err != nil {
		return nil, err
	}
	return compiler.Compile(name)
}
