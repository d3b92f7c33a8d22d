package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// bodies are the operations that take one, each with the fields that it does
// not go without.
func (s *server) bodies() []struct{ method, path, schema, needed string } {
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "held"}`)
	return []struct{ method, path, schema, needed string }{
		{"POST", "/api/v1/links", "LinkCreate", `"target": "https://example.com/"`},
		{"PATCH", "/api/v1/links/held", "LinkChange", ``},
		{"POST", "/api/v1/links/bulk", "BulkCreate", `"items": [{"target": "https://example.com/"}]`},
		{"POST", "/api/v1/keys", "KeyCreate", `"scopes": ["links:read"]`},
	}
}

func TestFieldsAreRequiredWhereTheDocumentSaysSo(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	schemas := s.document().Components.Schemas
	for _, b := range s.bodies() {
		required := schemas[b.schema].Required
		if a := s.do(b.method, b.path, `{}`); !slices.Equal(a.fields(), required) || (a.Code == 422) != (len(required) > 0) {
			t.Errorf("%s %s {}: %d of %v, want what the document requires: %v", b.method, b.path, a.Code, a.fields(), required)
		}
	}
}

func TestNullIsTakenWhereTheDocumentSaysSo(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	schemas := s.document().Components.Schemas
	for _, b := range s.bodies() {
		for field, p := range schemas[b.schema].Properties {
			nullable := p.nullable()
			body := fmt.Sprintf(`{%q: null}`, field)
			if b.needed != "" && !strings.HasPrefix(b.needed, `"`+field+`"`) {
				body = fmt.Sprintf(`{%s, %q: null}`, b.needed, field)
			}
			a := s.do(b.method, b.path, body)
			refused := a.Code == 422 && slices.Equal(a.fields(), []string{field})
			if nullable && a.Code >= 300 || !nullable && !refused {
				t.Errorf("%s %s %s: %d %s; the document says nullable: %v", b.method, b.path, body, a.Code, a.Body, nullable)
			}
			if slices.Contains(p.words(), nil) {
				t.Errorf("%s.%s: null is among the words %v", b.schema, field, p.words())
			}
		}
	}
}

func TestDescriptionsSayWhatLeavingOutDoes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	schemas := s.document().Components.Schemas
	for field, p := range schemas["LinkChange"].Properties {
		if !strings.Contains(p.Description, ". Left out: unchanged") || field != "target" && !strings.Contains(p.Description, "; null: ") {
			t.Errorf("LinkChange.%s: %q", field, p.Description)
		}
	}
	for field, p := range schemas["LinkCreate"].Properties {
		if field != "target" && strings.Count(p.Description, ". Left out or null: ") != 1 || strings.Contains(p.Description, "unchanged") {
			t.Errorf("LinkCreate.%s: %q", field, p.Description)
		}
	}
}

func TestHeadersAreTheDocumented(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := s.document()
	made := s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "h"}`)
	for _, c := range []struct {
		status             int
		method, path, body string
		option             func(*http.Request)
	}{
		{201, "POST", "/links", `{"target": "https://example.com/", "reuse": true}`, nil},
		{200, "POST", "/links", `{"target": "https://example.com/", "reuse": true}`, nil},
		{200, "POST", "/links/bulk", `{"items": [{"target": "https://example.com/"}]}`, nil},
		{200, "GET", "/links", "", nil},
		{200, "GET", "/links/{code}", "", nil},
		{304, "GET", "/links/{code}", "", header("If-None-Match", made.Header().Get("ETag"))},
		{200, "PATCH", "/links/{code}", `{}`, nil},
		{204, "DELETE", "/links/{code}", "", nil},
		{201, "POST", "/keys", `{"scopes": ["links:read"]}`, nil},
		{200, "GET", "/keys", "", nil},
	} {
		var options []func(*http.Request)
		if c.option != nil {
			options = append(options, c.option)
		}
		a := s.want(c.status, c.method, "/api/v1"+strings.Replace(c.path, "{code}", "h", 1), c.body, options...)
		promised, ok := d.Paths[c.path][strings.ToLower(c.method)].Responses[fmt.Sprint(c.status)]
		if !ok {
			t.Errorf("%s %s: the document lacks %d", c.method, c.path, c.status)
		}
		for _, name := range []string{"ETag", "Location", "Waypost-Propagation"} {
			h, listed := promised.Headers[name]
			if sent := a.Header().Get(name) != ""; sent != listed || listed && h.Schema.Description == "" {
				t.Errorf("%s %s: %s sent: %v, listed: %v, described as %q", c.method, c.path, name, sent, listed, h.Schema.Description)
			}
		}
		if (a.Body.Len() > 0) != (len(promised.Content) > 0) {
			t.Errorf("%s %s: %d with %d bytes, content %v", c.method, c.path, c.status, a.Body.Len(), promised.Content)
		}
	}
}
