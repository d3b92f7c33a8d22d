package contract

import (
	"net/http"
	"strings"
	"testing"
)

// bodiesAreObjects sends what is no JSON, and JSON that is no object, to every operation that takes a body.
func (s *stage) bodiesAreObjects(t *testing.T) {
	o := s.newOwner(t)
	for _, op := range s.operations {
		calls := o.calls(op)
		if op.bodySchema() == nil || len(calls) == 0 {
			continue
		}
		good := calls[0].body
		for body, want := range map[string]int{
			" ": 400, "\x00": 400, "\ufeff" + good: 400, good + "x": 400, good + good: 400, good[1:]: 400, "// {}\n" + good: 400,
			`{"a": NaN}`: 400, `{"a": Infinity}`: 400, `{"a": 01}`: 400, `{"a": +1}`: 400, `{'a': 1}`: 400, `{a: 1}`: 400, `{"a": 1,}`: 400,
			"{\"a\": \"\x01\"}": 400, "{\"a\": \"\xff\"}": 400, `{"a": "\x"}`: 400, `{"a": tru}`: 400, "a=b&c=d": 400,
			strings.Repeat("[", 20_000): 400, strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000): 400,
			strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000): 400,
			"[]": 422, "null": 422, "true": 422, `"x"`: 422, "7": 422, "[" + good + "]": 422,
		} {
			r := calls[0].request(op, o)
			r.body = body
			before := s.written(t)
			a := s.do(t, r)
			if a.status != want || before != s.written(t) {
				t.Errorf("%s with %.80q: status %d, want %d and nothing written: %.300s", op, body, a.status, want, a.body)
			}
			if want == http.StatusUnprocessableEntity && len(a.fields()) == 0 {
				t.Errorf("%s with %.80q: nothing is named as refused: %s", op, body, a.body)
			}
			if err := s.conform(op, a); err != nil {
				t.Errorf("%s with %.80q: %v", op, body, err)
			}
		}
	}
}
