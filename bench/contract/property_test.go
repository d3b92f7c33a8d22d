package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// fieldsTakeWhatTheyPromise sends every value to every field of every body. A value that the document does not describe
// is refused with 422 that names the field and nothing else; of the others some may be refused by rules that no schema
// says. What is refused writes nothing, and nothing is a fault of the service.
func (s *stage) fieldsTakeWhatTheyPromise(t *testing.T) {
	o := s.newOwner(t)
	for _, op := range s.operations {
		schema := op.bodySchema()
		calls := o.calls(op)
		if schema == nil || len(calls) == 0 {
			continue
		}
		fields := slices.Sorted(maps.Keys(schema.Properties))
		for _, field := range append(fields, "nonsense", strings.ToUpper(fields[0]), "") {
			faults, described := 0, fieldSchema(schema, field)
			for _, value := range append(values(), `1, `+quoted(field)+`: 1`) {
				c := o.alone(op, calls[0], field)
				c.body = withField(t, c.body, field, value)
				if faults += s.promiseBroken(t, op, c.request(op, o), field, s.promised(described, value)); faults >= enough {
					break
				}
			}
		}
	}
}

// alone is a call in which nothing stands in a value's way: without the other fields that are of no need to it, and of a
// body whose fields exclude each other with the one alone.
func (o *owner) alone(op *operation, c call, field string) call {
	needed := op.bodySchema().Required
	var given map[string]json.RawMessage
	if err := json.Unmarshal([]byte(c.body), &given); err != nil {
		o.t.Fatalf("sample of %s: %v", op, err)
	}
	maps.DeleteFunc(given, func(name string, _ json.RawMessage) bool {
		return name == field || !slices.Contains(needed, name)
	})
	b, _ := json.Marshal(given) // was JSON
	c.body, c.header = string(b), nil
	return c
}

// withField is an object with one more field, or with the field's value replaced.
func withField(t *testing.T, body, field, value string) string {
	t.Helper()
	var given map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &given); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	delete(given, field)
	parts := []string{quoted(field) + `: ` + value}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		parts = append(parts, quoted(name)+`: `+string(given[name]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // a text
	return string(b)
}

// fieldSchema is what the document describes of a field: nil for one that it does not have, and without what it says of
// items that fail alone.
func fieldSchema(body *openapi3.Schema, field string) *openapi3.Schema {
	if body.Properties[field] == nil {
		return nil
	}
	described := *body.Properties[field].Value
	if described.Items != nil && described.Items.Value.Type.Is("object") {
		described.Items = nil
	}
	return &described
}

// promised reports whether the document describes the value as one that the field may have.
func (s *stage) promised(described *openapi3.Schema, value string) bool {
	if described == nil {
		return false
	}
	v, err := exact(value)
	if described.Type.Is("array") && described.Items == nil {
		err = nil // what is wrong with an item
	}
	return err == nil && s.schemas.fits(described, v) == nil
}

// exact reads JSON as the service does: numbers beyond what a float64 tells apart are no integers of 64 bits, and half
// of a surrogate pair is no text.
func exact(value string) (v any, err error) {
	if !json.Valid([]byte(value)) {
		return nil, fmt.Errorf("%s is not one value", value)
	}
	decoder := json.NewDecoder(strings.NewReader(value))
	decoder.UseNumber()
	if err = decoder.Decode(&v); err != nil {
		return nil, err
	}
	if n, ok := v.(json.Number); ok {
		if i, err := n.Int64(); err == nil {
			return i, nil
		}
		return n.Float64()
	}
	if strings.Contains(value, `\ud8`) || strings.Contains(value, `\ude`) {
		return v, fmt.Errorf("%s has half of a pair", value)
	}
	return v, nil
}

// enough faults of one field or parameter show what is wrong with it.
const enough = 3

// promiseBroken makes the call with one thing in question and reports 1 if what becomes of it is not right.
func (s *stage) promiseBroken(t *testing.T, op *operation, r request, name string, promised bool) int {
	t.Helper()
	before := s.written(t)
	a := s.do(t, r)
	if err := errors.Join(s.conform(op, a), judged(a, name, promised)); err != nil {
		t.Errorf("%s %s %.300s: status %d: %v\n%.300s", op, r.path, r.body, a.status, err, a.body)
		return 1
	}
	if after := s.written(t); a.status >= http.StatusBadRequest && before != after {
		t.Errorf("%s %s %.300s: status %d, but it wrote: %s, then %s", op, r.path, r.body, a.status, before, after)
		return 1
	}
	s.undo(t, op, a)
	return 0
}

// judged says why an answer is not right to a call with one thing in question.
func judged(a answer, name string, promised bool) error {
	refused := a.status == http.StatusUnprocessableEntity
	named := a.fields()
	switch {
	case refused && promised && slices.Contains(named, "body"): // fields that exclude each other
		return nil
	case refused && !slices.Equal(slices.Compact(named), []string{name}):
		return fmt.Errorf("refused for %q, want %q alone", named, name)
	case !promised && !refused:
		return errors.New("want 422, since the document does not describe the value")
	case a.status == http.StatusBadRequest || a.status == http.StatusUnauthorized || a.status >= http.StatusInternalServerError:
		return errors.New("want a success, or 422 for a rule that no schema says")
	}
	return nil
}

// undo takes back what would change the answers of calls that follow.
func (s *stage) undo(t *testing.T, op *operation, a answer) {
	t.Helper()
	if at := a.header.Get("Location"); at != "" && slices.Contains([]string{"createBlock", "createDomain"}, op.OperationID) {
		if gone := s.do(t, request{method: http.MethodDelete, path: strings.TrimPrefix(at, prefix)}); gone.status != http.StatusNoContent {
			t.Errorf("DELETE %s: status %d: %s", at, gone.status, gone.body)
		}
	}
}
