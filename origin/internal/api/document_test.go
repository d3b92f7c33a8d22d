package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// document is what the tests read of the OpenAPI document.
type document struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		Security    []map[string][]string
		RequestBody struct {
			Content map[string]struct {
				Schema struct {
					Ref string `json:"$ref"`
				}
			}
		}
		Responses map[string]struct {
			Ref     string `json:"$ref"`
			Content map[string]any
			Headers map[string]struct {
				Schema struct{ Description string }
			}
		}
	}
	Components struct {
		Schemas map[string]struct {
			Required   []string
			Properties map[string]property
		}
	}
}

// property is a field in the document.
type property struct {
	Type        any // a word or a list of them
	Description string
	Enum        []any
	MaxLength   int
	MaxItems    int
	Items       *struct{ Enum []any }
	AnyOf       []property
	Examples    []any
}

// nullable reports whether null is among the types.
func (p property) nullable() bool {
	types, _ := p.Type.([]any)
	return p.Type == "null" || slices.Contains(types, any("null")) || slices.ContainsFunc(p.AnyOf, property.nullable)
}

// words are those that a value is one of.
func (p property) words() []any {
	all := p.Enum
	for _, choice := range p.AnyOf {
		all = append(all, choice.words()...)
	}
	return all
}

func (s *server) document() document {
	s.t.Helper()
	a := s.want(200, "GET", "/api/v1/openapi.json", "", anonymous)
	var d document
	if err := json.Unmarshal(a.Body.Bytes(), &d); err != nil {
		s.t.Fatal(err)
	}
	return d
}

var placeholder = regexp.MustCompile(`\{[^}]+\}`)

func TestDocumentDescribesWhatIsServed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := s.document()
	if d.OpenAPI != "3.1.0" {
		t.Errorf("openapi = %q", d.OpenAPI)
	}
	operations := 0
	for path, methods := range d.Paths {
		for method, op := range methods {
			operations++
			concrete := "/api/v1" + placeholder.ReplaceAllString(path, "x")
			if status := s.do(strings.ToUpper(method), concrete, "", anonymous).Code; status != http.StatusUnauthorized {
				t.Errorf("%s %s without a key: %d, want 401", method, path, status)
			}
			if len(op.Security) == 0 || !strings.HasSuffix(op.Responses["default"].Ref, "Problem") || len(op.Responses) < 2 {
				t.Errorf("%s %s lacks security or answers: %+v", method, path, op)
			}
			for media, content := range op.RequestBody.Content {
				if !strings.HasPrefix(content.Schema.Ref, "#/components/schemas/") || !strings.HasSuffix(media, "json") {
					t.Errorf("%s %s takes %s %+v, want a schema", method, path, media, content)
				}
			}
		}
	}
	if operations < 16 {
		t.Errorf("%d operations, want at least 16", operations)
	}
	if d.Paths["/links/{code}/live"]["get"].Responses["200"].Content["text/event-stream"] == nil {
		t.Errorf("live views answer %v, want text/event-stream", d.Paths["/links/{code}/live"]["get"].Responses)
	}
	for name := range d.Components.Schemas {
		if strings.HasPrefix(name, "Error") {
			t.Errorf("schema %s is of no answer", name)
		}
	}
	want := []string{
		"domain", "code", "short_url", "target", "status", "enabled", "owner", "title", "tags", "query", "suffix", "class", "clicks",
		"starts_at", "expires_at", "expired_url", "max_clicks", "created_at", "updated_at", "version", "qr_url",
	}
	if got := d.Components.Schemas["Link"].Required; !slices.Equal(got, want) {
		t.Errorf("fields of a link = %v, want %v", got, want)
	}
}

// The document's limits are tags and the rules are code: neither may promise
// what the other does not keep.
func TestLimitsOfTheDocumentHold(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	properties := s.document().Components.Schemas["LinkCreate"].Properties
	if len(properties) != 19 {
		t.Errorf("LinkCreate has %d fields, want 19", len(properties))
	}
	for field, p := range properties {
		var refused, accepted []string
		for _, v := range p.words() {
			b, _ := json.Marshal(v)
			accepted = append(accepted, string(b))
		}
		if len(p.words()) > 0 {
			refused = append(refused, `"zzz"`, `12345`)
		}
		if p.MaxLength > 0 {
			value := func(n int) string {
				head := map[string]string{"target": "https://example.com/", "expired_url": "https://example.com/"}[field]
				return `"` + head + strings.Repeat("x", n-len(head)) + `"`
			}
			accepted, refused = append(accepted, value(p.MaxLength)), append(refused, value(p.MaxLength+1))
		}
		if p.MaxItems > 0 {
			tags := func(n int) string {
				items := make([]string, n)
				for i := range items {
					items[i] = fmt.Sprintf(`"t%d"`, i)
				}
				return "[" + strings.Join(items, ",") + "]"
			}
			accepted, refused = append(accepted, tags(p.MaxItems)), append(refused, tags(p.MaxItems+1))
		}
		body := func(value string) string {
			if field == "target" {
				return `{"target": ` + value + `}`
			}
			return `{"target": "https://example.com/", "` + field + `": ` + value + `}`
		}
		for _, value := range accepted {
			s.want(201, "POST", "/api/v1/links", body(value))
		}
		for _, value := range refused {
			if got := s.want(422, "POST", "/api/v1/links", body(value)).fields(); !slices.Equal(got, []string{field}) {
				t.Errorf("%s: fields = %v", field, got)
			}
		}
	}
}

func TestDocsNeedNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a := s.want(200, "GET", "/docs", "", anonymous)
	page := a.Body.String()
	for _, want := range []string{"POST</span> /api/v1/links/bulk", "curl", `id="schema-LinkCreate"`, "expires_at", "<code>Waypost-Propagation</code>", "<th>304</th>", `href="#createKey"`, `id="createKey"`, "Needs the scope <code>admin</code>"} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	for _, foreign := range []string{"<script", "src=", "@import", "url(", "<link", "`"} {
		if strings.Contains(page, foreign) {
			t.Errorf("page has %q", foreign)
		}
	}
	if got := a.Header().Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'none'") {
		t.Errorf("Content-Security-Policy = %q", got)
	}
}
