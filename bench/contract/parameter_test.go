package contract

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// parametersTakeWhatTheyPromise does to the parameters of queries, and to headers and paths, what is done to fields.
func (s *stage) parametersTakeWhatTheyPromise(t *testing.T) {
	o := s.newOwner(t)
	for _, op := range s.operations {
		calls := o.calls(op)
		if len(calls) == 0 || op.isStream() {
			continue
		}
		for _, p := range op.Parameters {
			faults := 0
			for _, value := range parameterValues() {
				if faults >= enough {
					break
				}
				c, text := calls[0], unescaped(value)
				switch p.Value.In {
				case "query":
					c.query = p.Value.Name + "=" + value
					if !utf8.ValidString(text) {
						s.staysOutOfTrouble(t, op, c.request(op, o))
						continue
					}
					faults += s.promiseBroken(t, op, c.request(op, o), p.Value.Name, text == "" || s.schemas.fits(p.Value.Schema.Value, parsed(p.Value.Schema.Value, text)) == nil)
				case "path":
					r := c.request(op, o)
					r.path = strings.Replace(op.path, "{"+p.Value.Name+"}", value, 1)
					s.staysOutOfTrouble(t, op, r)
				case "header":
					if strings.ContainsFunc(text, unicode.IsControl) {
						continue // cannot be sent
					}
					c.header = map[string]string{p.Value.Name: text}
					s.staysOutOfTrouble(t, op, c.request(op, o))
				}
			}
			if p.Value.In == "query" {
				c := calls[0]
				c.query = p.Value.Name + "=1&" + p.Value.Name + "=1"
				s.promiseBroken(t, op, c.request(op, o), p.Value.Name, false)
			}
		}
	}
}

// staysOutOfTrouble makes a call of which only this much is certain: its answer is a documented one, of no fault of the
// service, and what is refused writes nothing.
func (s *stage) staysOutOfTrouble(t *testing.T, op *operation, r request) {
	t.Helper()
	before := s.written(t)
	a := s.do(t, r)
	after := s.written(t)
	if err := s.conform(op, a); err != nil {
		t.Errorf("%s %.300s %.300v: %v", op, r.path, r.header, err)
	}
	if a.status >= http.StatusInternalServerError || a.status >= http.StatusBadRequest && before != after {
		t.Errorf("%s %.300s %.300v: status %d, written before %s, after %s: %.300s", op, r.path, r.header, a.status, before, after, a.body)
	}
}

func unescaped(value string) string {
	text, _ := url.QueryUnescape(value) // made by QueryEscape, or well-formed by hand
	return text
}

// isStream reports whether a success has no end.
func (op *operation) isStream() bool {
	for _, response := range op.Responses.Map() {
		if response.Value.Content[mediaEvents] != nil {
			return true
		}
	}
	return false
}
