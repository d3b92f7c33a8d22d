package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

const (
	mediaProblem = "application/problem+json"
	mediaEvents  = "text/event-stream"
)

// ofHTTP are headers that every answer may have and that a document need not tell of, since they are for HTTP itself and
// for what stands between client and service.
var ofHTTP = []string{
	"Cache-Control", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Date", "Transfer-Encoding", "Vary", "X-Accel-Buffering", "X-Content-Type-Options",
}

// conform says where an answer departs from what the document says of the operation. What is described as the default
// alone counts as not described: those are faults of the service.
func (s *stage) conform(op *operation, a answer) error {
	described := op.Responses.Status(a.status)
	if described == nil {
		return fmt.Errorf("status %d is not in the document; it has %v. Body: %.300s", a.status, statuses(op), a.body)
	}
	return errors.Join(s.conformHeaders(described.Value, a), s.conformBody(op, described.Value, a))
}

// statuses are those that the document lists, without the default.
func statuses(op *operation) (all []int) {
	for status := range op.Responses.Map() {
		if n, err := strconv.Atoi(status); err == nil {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

func (s *stage) conformHeaders(described *openapi3.Response, a answer) error {
	var faults []error
	promised := make(map[string]*openapi3.Header)
	for name, header := range described.Headers {
		promised[http.CanonicalHeaderKey(name)] = header.Value
	}
	for _, name := range slices.Sorted(maps.Keys(a.header)) {
		header := promised[name]
		switch {
		case header == nil && slices.Contains(ofHTTP, name):
		case header == nil:
			faults = append(faults, fmt.Errorf("header %s of a %d is not in the document", name, a.status))
		default:
			if err := s.schemas.fits(header.Schema.Value, parsed(header.Schema.Value, a.header.Get(name))); err != nil {
				faults = append(faults, fmt.Errorf("header %s of a %d: %w", name, a.status, err))
			}
		}
	}
	for name, header := range promised {
		if header.Required && a.header.Get(name) == "" {
			faults = append(faults, fmt.Errorf("header %s of a %d is required and missing", name, a.status))
		}
	}
	if a.header.Get("X-Request-Id") == "" {
		faults = append(faults, fmt.Errorf("a %d has no X-Request-Id", a.status))
	}
	return errors.Join(faults...)
}

func (s *stage) conformBody(op *operation, described *openapi3.Response, a answer) error {
	if len(described.Content) == 0 || op.method == http.MethodHead {
		if len(a.body) > 0 {
			return fmt.Errorf("a %d has %d bytes where the document has none", a.status, len(a.body))
		}
		return nil
	}
	media, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	content := described.Content[media]
	switch {
	case err != nil || content == nil:
		return fmt.Errorf("a %d is %q, which the document does not have", a.status, a.header.Get("Content-Type"))
	case media == mediaEvents:
		return s.conformEvents(content.Schema.Value, a)
	case !strings.HasSuffix(media, "json"):
		if len(a.body) == 0 {
			return fmt.Errorf("a %d of type %s is empty", a.status, media)
		}
		return nil
	}
	var value any
	if err := json.Unmarshal(a.body, &value); err != nil {
		return fmt.Errorf("a %d is no JSON: %w", a.status, err)
	}
	if err := s.schemas.fits(content.Schema.Value, value); err != nil {
		return fmt.Errorf("the body of a %d: %w\n%.500s", a.status, err, a.body)
	}
	if problem, ok := value.(map[string]any); ok && media == mediaProblem && problem["status"] != float64(a.status) {
		return fmt.Errorf("a %d says that it is a %v", a.status, problem["status"])
	}
	return nil
}

// conformEvents looks at the data of every whole event.
func (s *stage) conformEvents(schema *openapi3.Schema, a answer) error {
	events := 0
	for line := range strings.Lines(string(a.body)) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || !strings.HasSuffix(line, "\n") {
			continue
		}
		events++
		var value any
		if err := json.Unmarshal([]byte(data), &value); err != nil {
			return fmt.Errorf("event %d is no JSON: %w", events, err)
		}
		if err := s.schemas.fits(schema, value); err != nil {
			return fmt.Errorf("event %d: %w: %s", events, err, data)
		}
	}
	if events == 0 {
		return errors.New("the stream had no event")
	}
	return nil
}

// parsed is a parameter's or header's text as the JSON value that it stands for.
func parsed(schema *openapi3.Schema, text string) any {
	if schema.Type.Includes("integer") {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	if schema.Type.Includes("boolean") && (text == "true" || text == "false") {
		return text == "true"
	}
	return text
}

// fields names what a 422 refuses.
func (a answer) fields() (names []string) {
	var problem struct {
		Errors []struct{ Field string }
	}
	_ = json.Unmarshal(a.body, &problem) // of what is no JSON there are none
	for _, e := range problem.Errors {
		names = append(names, e.Field)
	}
	return names
}

// text is a string member of the body.
func (a answer) text(member string) string {
	var body map[string]any
	_ = json.Unmarshal(a.body, &body) // of what is no JSON there are none
	text, _ := body[member].(string)
	return text
}
