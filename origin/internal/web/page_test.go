package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http/httptest"
	"strings"
	"testing"

	"waypost/origin/internal/web"
)

const openAPI = `{"openapi": "3.1.0", "info": {"title": "T<i>", "version": "1"}, "servers": [{"url": "/base"}],
	"paths": {"/things/{id}": {"patch": {"operationId": "changeThing", "summary": "Change <b>it</b>", "description": "Needs \u0060a<b\u0060 and c\u0060d.",
		"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string", "maxLength": 5}}],
		"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
		"responses": {"200": {"description": "OK", "headers": {"X-Seen": {"schema": {"type": "string", "description": "When & where"}}}, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}}}},
	"components": {"schemas": {"Thing": {"type": "object", "required": ["kind"], "properties": {
		"kind": {"type": ["string", "null"], "enum": ["a", "b", null], "description": "What & why"},
		"at": {"type": "string", "format": "date-time"},
		"n": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
		"tags": {"type": "array", "items": {"type": "string", "enum": ["x"]}, "maxItems": 4}}}}}}`

func TestPageShowsTheDocument(t *testing.T) {
	t.Parallel()
	h, err := web.New([]byte(openAPI))
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/docs", nil))
	page := w.Body.String()
	for _, want := range []string{
		"T&lt;i&gt;", "Change &lt;b&gt;it&lt;/b&gt;", "PATCH</span> /base/things/{id}", `href="#schema-Thing">Thing</a> as <code>application/json`,
		"string or null", "What &amp; why", "(a, b)", "<td>time", "(at least 1; at most 9; 3 if left out)", "list of string", "(x; at most 4 items)", "path, required",
		"Needs <code>a&lt;b</code> and c`d.", `<code>X-Seen</code> <span class="dim">When &amp; where`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	_, rest, _ := strings.Cut(page, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(w.Header().Get("Content-Security-Policy"), want) {
		t.Errorf("policy %q does not allow the page's style %s", w.Header().Get("Content-Security-Policy"), want)
	}
}

func TestAnswersThatAreNotOneSchemaAreSaidInWords(t *testing.T) {
	t.Parallel()
	const doc = `{"paths": {"/a": {"get": {"responses": {
		"200": {"content": {"text/event-stream": {"schema": {"oneOf": [{"$ref": "#/components/schemas/Tick"}, {"$ref": "#/components/schemas/Tock"}]}}}},
		"201": {"content": {"application/json": {"schema": {"type": ["array", "null"], "items": {"$ref": "#/components/schemas/Tick"}}}}},
		"202": {"content": {"text/plain": {}}}}}}}}`
	h, err := web.New([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/docs", nil))
	for _, want := range []string{
		`<td>events: <a href="#schema-Tick">Tick</a> or <a href="#schema-Tock">Tock</a>`,
		`<td>list of <a href="#schema-Tick">Tick</a></td>`, "<th>202</th><td></td><td></td>",
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("page lacks %q:\n%s", want, w.Body)
		}
	}
}

func TestDocumentThatIsNone(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{``, `x`, `{"paths": 1}`} {
		if _, err := web.New([]byte(doc)); err == nil {
			t.Errorf("New(%s) was accepted", doc)
		}
	}
}
