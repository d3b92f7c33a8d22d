package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"unicode/utf8"

	"waypost/shared/link"
)

// decode reads a JSON object into the struct that into points to, whose fields
// are of type field[T], and returns every field that was refused. It is strict
// where encoding/json is not: names match exactly, a name stands once, and
// neither invalid UTF-8 nor a lone surrogate becomes U+FFFD.
//
// The error is a *problemError: 400 for what is no JSON, 422 for what is no object.
func decode(raw []byte, into any) ([]link.FieldError, error) {
	members, err := split(raw)
	if err != nil {
		return nil, err
	}
	var faults []link.FieldError
	fields := jsonFields(reflect.ValueOf(into).Elem())
	seen := make(map[string]bool, len(members))
	for _, m := range members {
		to, known := fields[m.name]
		reason := ""
		switch {
		case seen[m.name]:
			reason = "is given more than once"
		case !known:
			reason = unknown(m.name)
		default:
			if err := json.Unmarshal(m.value, to.Addr().Interface()); err != nil {
				reason = err.Error() // of field[T]: fit for the client
			}
		}
		seen[m.name] = true
		if reason != "" {
			faults = append(faults, link.FieldError{Field: shorten(m.name), Reason: reason})
		}
	}
	return faults, nil
}

// member is one name and value of an object.
type member struct {
	name  string
	value json.RawMessage
}

// split takes an object apart, in order and with its repeats. encoding/json
// bounds the depth of nesting at 10,000.
func split(raw []byte) ([]member, error) {
	switch {
	case !utf8.Valid(raw):
		return nil, newProblem(http.StatusBadRequest, "the body is not valid UTF-8")
	case !json.Valid(raw):
		return nil, newProblem(http.StatusBadRequest, "the body is not valid JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, faulty([]link.FieldError{{Field: "body", Reason: "must be a JSON object"}})
	}
	var members []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, newProblem(http.StatusBadRequest, "the body is not valid JSON")
		}
		m := member{}
		m.name, _ = name.(string)
		if err := dec.Decode(&m.value); err != nil {
			return nil, newProblem(http.StatusBadRequest, "the body is not valid JSON")
		}
		members = append(members, m)
	}
	return members, nil
}

// jsonFields finds a struct's fields by their names in JSON, those of embedded
// structs among them.
func jsonFields(v reflect.Value) map[string]reflect.Value {
	fields := make(map[string]reflect.Value)
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			fields[name] = v.FieldByIndex(f.Index)
		}
	}
	return fields
}

// unknown says why a name is refused: that a field of the answers cannot be
// sent is worth telling apart from a slip of the pen.
func unknown(name string) string {
	if _, ok := jsonFields(reflect.ValueOf(Link{}))[name]; ok {
		return "is read-only"
	}
	return "is not a known field"
}

// shorten keeps a name that the client made up from filling the answer.
func shorten(name string) string {
	const most = 64
	if utf8.RuneCountInString(name) <= most {
		return name
	}
	return string([]rune(name)[:most]) + "..."
}
