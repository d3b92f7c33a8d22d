package web_test

import (
	"html"
	"net/http/httptest"
	"strings"
	"testing"

	"waypost/origin/internal/web"
)

// shown is what a reader sees of the page about a document.
func shown(t *testing.T, doc string) string {
	t.Helper()
	h, err := web.New([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/docs", nil))
	return html.UnescapeString(w.Body.String())
}

func TestEveryOperationHasAnExample(t *testing.T) {
	t.Parallel()
	page := shown(t, `{"servers": [{"url": "/base"}], "paths": {"/things/{id}": {
		"get": {"parameters": [
			{"name": "id", "in": "path", "schema": {"type": "string", "examples": ["a/b c"]}},
			{"name": "q", "in": "query", "schema": {"type": "string", "examples": ["x&y"]}},
			{"name": "limit", "in": "query", "schema": {"type": "integer"}}],
			"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}},
		"delete": {"responses": {"204": {}}},
		"patch": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Change"}},
			"application/merge-patch+json": {"schema": {"$ref": "#/components/schemas/Change"}}}}, "responses": {}},
		"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Many"}}}}, "responses": {}}}},
		"components": {"schemas": {
			"Change": {"type": "object", "properties": {"title": {"type": "string", "examples": ["it's"]}, "silent": {"type": "string"}}},
			"Many": {"type": "object", "required": ["items"], "properties": {"items": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Change"}}}},
			"Thing": {"type": "object", "required": ["kind", "at", "on", "hours", "none", "by", "n", "day"], "properties": {
				"kind": {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]}, "at": {"type": "string", "format": "date-time"},
				"on": {"type": "boolean"}, "hours": {"type": "array", "minItems": 2, "items": {"type": "integer"}}, "none": {"type": ["string", "null"]},
				"by": {"type": "object"}, "n": {"type": "integer", "default": 3}, "day": {"type": "string", "format": "date"}, "absent": {"type": "string"}}}}}}`)
	for _, want := range []string{
		`curl -H "Authorization: Bearer $KEY" "$WAYPOST/base/things/a%2Fb%20c?q=x&y"`,
		`curl -X DELETE -H "Authorization: Bearer $KEY" "$WAYPOST/base/things/{id}"`,
		"curl -X PATCH -H \"Authorization: Bearer $KEY\" -H 'Content-Type: application/merge-patch+json' \\\n  -d '{\"title\":\"it'\\''s\"}' \\\n  \"$WAYPOST",
		"curl -H \"Authorization: Bearer $KEY\" -H 'Content-Type: application/json' \\\n  -d '{\"items\":[{\"title\":\"it'\\''s\"}]}' \\\n  \"$WAYPOST",
		"<td>string or null",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	answer := `{"at":"2030-01-02T15:04:05Z","by":{},"day":"2030-01-02","hours":[0,0],"kind":"a","n":3,"none":null,"on":true}`
	if !strings.Contains(strings.Join(strings.Fields(page), ""), answer) {
		t.Errorf("the page lacks the answer %s", answer)
	}
}

func TestReferencesAreFollowed(t *testing.T) {
	t.Parallel()
	page := shown(t, `{"paths": {"/a": {"get": {"responses": {"200": {"headers": {"X-Id": {"$ref": "#/components/headers/X-Id"}}},
		"404": {"$ref": "#/components/responses/NotFound"}, "default": {"$ref": "#/components/responses/Problem"}}}}},
		"components": {"headers": {"X-Id": {"description": "the id", "schema": {"type": "string", "description": "the id"}}},
			"responses": {"NotFound": {"description": "nothing there", "headers": {"X-Id": {"$ref": "#/components/headers/X-Id"}}}, "Problem": {"description": "another"}}}}`)
	for _, want := range []string{"Problems: 404 default", "<td>nothing there</td>", "<td>another</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if got := strings.Count(page, `<code>X-Id</code> <span class="dim">the id`); got != 2 {
		t.Errorf("the header is described %d times, want at both answers", got)
	}
}

func TestWhatThereIsMostOfComesFirst(t *testing.T) {
	t.Parallel()
	page := shown(t, `{"paths": {"/a": {"get": {"tags": ["few"], "responses": {}}}, "/b": {"get": {"tags": ["many"], "responses": {}}, "post": {"tags": ["many"], "responses": {}}}}}`)
	if few, many := strings.Index(page, "<strong>few"), strings.Index(page, "<strong>many"); many < 0 || few < many {
		t.Errorf("few at %d, many at %d", few, many)
	}
}
