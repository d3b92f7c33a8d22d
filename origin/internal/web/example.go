package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// call is a curl line that calls the operation, made of the examples that its
// parameters and the fields of its body have. It is to be pasted behind the first
// steps, whose variables it uses.
func (op *operation) call(d *document, method, path string) string {
	var query []string
	for _, p := range op.Parameters {
		example, ok := p.Schema.given()
		text := url.PathEscape(fmt.Sprint(example))
		switch {
		case p.In == "path" && ok:
			path = strings.Replace(path, "{"+p.Name+"}", text, 1)
		case p.In == "query" && ok:
			query = append(query, p.Name+"="+text)
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	words := []string{"curl"}
	body := op.RequestBody.Content
	if method != http.MethodGet && (method != http.MethodPost || len(body) == 0) {
		words = append(words, "-X", method)
	}
	words = append(words, `-H "Authorization: Bearer $KEY"`)
	if media := sortedKeys(body); len(media) > 0 {
		preferred := media[len(media)-1] // merge-patch+json after json
		sent, _ := json.Marshal(d.example(body[preferred].Schema, bodies))
		words = append(words, "-H 'Content-Type: "+preferred+"'", "\\\n  -d "+quote(string(sent)), "\\\n ")
	}
	return strings.Join(append(words, `"$WAYPOST`+path+`"`), " ")
}

// quote makes one word of text for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// answer is what a success looks like, "" where it has no JSON.
func (op *operation) answer(d *document) string {
	for _, status := range sortedKeys(op.Responses) {
		content, ok := op.Responses[status].Content["application/json"]
		if !ok || !strings.HasPrefix(status, "2") {
			continue
		}
		b, _ := json.MarshalIndent(d.example(content.Schema, answers), "", "  ")
		return string(b)
	}
	return ""
}

// What an example shows of an object: of a body the fields that have an example
// and lists of such objects, of an answer all that are always there.
type extent int

const (
	bodies extent = iota
	answers
)

// example is a value that the schema describes.
func (d *document) example(s *schema, shown extent) any {
	if s == nil {
		return nil
	}
	if given, ok := s.given(); ok {
		return given
	}
	switch {
	case s.Ref != "":
		return d.example(d.Components.Schemas[refName(s.Ref)], shown)
	case len(s.AnyOf) > 0:
		return d.example(s.AnyOf[0], shown)
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Default != nil:
		return s.Default
	case len(s.Type) > 1 && s.Items == nil: // or null
		return nil
	case s.Items != nil:
		return d.list(s, shown)
	case s.Properties != nil:
		return d.object(s, shown)
	}
	return s.plain()
}

// list has as few items as it may, but one at least.
func (d *document) list(s *schema, shown extent) any {
	items := make([]any, max(1, s.MinItems))
	for i := range items {
		items[i] = d.example(s.Items, shown)
	}
	return items
}

func (d *document) object(s *schema, shown extent) any {
	fields := make(map[string]any)
	required := make(map[string]bool)
	for _, name := range s.Required {
		required[name] = true
	}
	for name, p := range s.Properties {
		_, given := p.given()
		if required[name] || shown == bodies && given {
			fields[name] = d.example(p, shown)
		}
	}
	return fields
}

// given is the example that the schema itself has.
func (s *schema) given() (any, bool) {
	if s == nil || len(s.Examples) == 0 {
		return nil, false
	}
	return s.Examples[0], true
}

// plain is a value of a type about which nothing more is said.
func (s *schema) plain() any {
	switch {
	case s.Format == "date-time":
		return "2030-01-02T15:04:05Z"
	case s.Format == "date":
		return "2030-01-02"
	case len(s.Type) == 0:
		return nil
	}
	switch s.Type[0] {
	case "string":
		return ""
	case "boolean":
		return true
	case "object":
		return map[string]any{}
	}
	return 0
}
