package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's template and style
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// view is what the template shows.
type view struct {
	Server, Alias string // of the first steps; different for each request

	Title, Description, Version string
	Base                        string // path before that of every operation
	Style                       template.CSS
	Groups                      []groupView
	Schemas                     []schemaView
}

// groupView are the operations about one thing.
type groupView struct {
	Name       string
	Operations []operationView
}

type operationView struct {
	Call, Answer                           string // examples; Answer may be ""
	ID, Method, Path, Summary, Description string
	Parameters                             []fieldView
	Body                                   string // name of its schema; "" for none
	Media                                  string
	Answers, Problems                      []answerView
}

type fieldView struct {
	Name, In, Kind, Bounds, Description string
	Required                            bool
}

type answerView struct {
	Status, Description string
	Form                string   // what the body is, of which there are the schemas; empty where it is the one schema
	Schemas             []string // names
	Headers             []fieldView
}

type schemaView struct {
	Name   string
	Fields []fieldView
}

// New returns a handler that answers with a page about the OpenAPI document. The
// page needs nothing from elsewhere and runs no script; only its first steps
// depend on the request.
func New(openAPI []byte) (http.Handler, error) {
	var doc document
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		return nil, fmt.Errorf("docs page: %w", err)
	}
	t, err := template.New("page").Funcs(template.FuncMap{"prose": prose}).Parse(pageHTML)
	if err != nil {
		return nil, fmt.Errorf("docs page: %w", err)
	}
	v := doc.view()
	if err := t.Execute(io.Discard, v); err != nil {
		return nil, fmt.Errorf("docs page: %w", err)
	}
	style := sha256.Sum256([]byte(pageCSS))
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-" +
		base64.StdEncoding.EncodeToString(style[:]) + "'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := v
		asked.Server, asked.Alias = server(r), freshAlias()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		var page bytes.Buffer
		_ = t.Execute(&page, asked) // it did above
		w.Header().Set("Content-Length", strconv.Itoa(page.Len()))
		_, _ = w.Write(page.Bytes()) // fails only if the client is gone
	}), nil
}

func (d *document) view() view {
	d.follow()
	v := view{
		Title: d.Info.Title, Description: d.Info.Description, Version: d.Info.Version,
		Style: template.CSS(pageCSS), //nolint:gosec // embedded, not from outside
	}
	if len(d.Servers) > 0 {
		v.Base = d.Servers[0].URL
	}
	for _, path := range sortedKeys(d.Paths) {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			if op, ok := d.Paths[path][method]; ok {
				v.add(op.group(), op.view(d, strings.ToUpper(method), v.Base+path))
			}
		}
	}
	slices.SortStableFunc(v.Groups, func(a, b groupView) int { // what there is most of is looked for most
		return len(b.Operations) - len(a.Operations)
	})
	for _, name := range sortedKeys(d.Components.Schemas) {
		v.Schemas = append(v.Schemas, d.Components.Schemas[name].view(name))
	}
	return v
}

// add puts the operation to the others of its group.
func (v *view) add(group string, op operationView) {
	i := slices.IndexFunc(v.Groups, func(g groupView) bool { return g.Name == group })
	if i < 0 {
		i = len(v.Groups)
		v.Groups = append(v.Groups, groupView{Name: group})
	}
	v.Groups[i].Operations = append(v.Groups[i].Operations, op)
}

// group is what the operation is about, in a word.
func (op *operation) group() string {
	if len(op.Tags) == 0 {
		return ""
	}
	return op.Tags[0]
}

func (op *operation) view(d *document, method, path string) operationView {
	v := operationView{
		ID: op.OperationID, Method: method, Path: path, Summary: op.Summary, Description: op.Description,
		Call: op.call(d, method, path), Answer: op.answer(d),
	}
	for _, p := range op.Parameters {
		v.Parameters = append(v.Parameters, fieldView{
			Name: p.Name, In: p.In, Kind: p.Schema.kind(), Bounds: p.Schema.bounds(),
			Description: p.Description, Required: p.Required,
		})
	}
	for _, media := range sortedKeys(op.RequestBody.Content) {
		v.Body = op.RequestBody.Content[media].Schema.kind()
		v.Media = strings.Join(sortedKeys(op.RequestBody.Content), " or ")
	}
	for _, status := range sortedKeys(op.Responses) {
		answer := answerView{Status: status, Description: op.Responses[status].Description}
		for media, content := range op.Responses[status].Content {
			answer.Form, answer.Schemas = form(media, content.Schema), content.Schema.names()
		}
		for _, name := range sortedKeys(op.Responses[status].Headers) {
			if s := op.Responses[status].Headers[name].Schema; s != nil {
				answer.Headers = append(answer.Headers, fieldView{Name: name, Description: s.Description})
			}
		}
		if status[0] == '2' || status[0] == '3' {
			v.Answers = append(v.Answers, answer)
		} else {
			v.Problems = append(v.Problems, answer)
		}
	}
	return v
}

// form says what a body is that is not just one schema in JSON.
func form(media string, s *schema) string {
	switch {
	case media == "text/event-stream":
		return "events: "
	case s != nil && s.Items != nil:
		return "list of "
	}
	return ""
}

func (s *schema) view(name string) schemaView {
	v := schemaView{Name: name}
	for _, field := range sortedKeys(s.Properties) {
		p := s.Properties[field]
		v.Fields = append(v.Fields, fieldView{
			Name: field, Kind: p.kind(), Bounds: p.bounds(), Description: p.Description,
			Required: slices.Contains(s.Required, field),
		})
	}
	return v
}
