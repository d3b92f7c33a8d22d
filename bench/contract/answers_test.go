package contract

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// costly are statuses that take too much to provoke here: as many blocked hosts, or bytes of domains, as there may be.
var costly = map[string][]int{"createBlock": {http.StatusConflict}, "changeDomain": {http.StatusConflict}}

// answersAreTheDocumented calls every operation in every way that has a status of its own, and holds each answer against
// the document, which in turn must not tell of a status that nothing leads to.
func (s *stage) answersAreTheDocumented(t *testing.T) {
	o := s.newOwner(t)
	weak := map[string]string{} // keys that lack a scope, by it
	for _, scope := range scopes {
		weak[scope] = s.newKey(t, "", other(scope)).text
	}
	tired := s.address()
	for _, op := range s.operations {
		seen := make(map[int]bool)
		judge := func(a answer, want int, how string) {
			seen[a.status] = true
			if a.status != want {
				t.Errorf("%s, %s: status %d, want %d: %.300s", op, how, a.status, want, a.body)
			}
			if err := s.conform(op, a); err != nil {
				t.Errorf("%s, %s: %v", op, how, err)
			}
		}
		answered := func(r request, want int, how string) { judge(s.do(t, r), want, how) }
		calls := o.calls(op)
		if len(calls) == 0 {
			continue
		}
		for _, c := range calls {
			if op.method == http.MethodGet {
				head := c.request(op, o)
				head.method = http.MethodHead
				s.headIsGetWithoutBody(t, op, head, c.status)
			}
			answered(c.request(op, o), c.status, c.String())
		}
		for how, r := range refused(op, calls[0].request(op, o)) {
			answered(r.request, r.status, how)
		}
		anonymous := calls[0].request(op, o)
		anonymous.anonymous = true
		answered(anonymous, http.StatusUnauthorized, "without a key")
		anonymous.from = tired
		judge(s.tire(t, anonymous), http.StatusTooManyRequests, "without a key, once too often")
		if limited := op.Responses.Status(calls[0].status).Value.Headers["RateLimit"]; limited != nil {
			o.spendsItsToken(op, answered)
		}
		unscoped := calls[0].request(op, o)
		unscoped.key = weak[op.scope()]
		answered(unscoped, http.StatusForbidden, "with a key of another scope")

		seen[http.StatusServiceUnavailable] = true // once the store is away, below
		for _, status := range statuses(op) {
			if !seen[status] && !slices.Contains(costly[op.OperationID], status) {
				t.Errorf("%s: the document tells of %d, which no call led to: add one to samples()", op, status)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(samples())) {
		if !slices.ContainsFunc(s.operations, func(op *operation) bool { return op.OperationID == id }) {
			t.Errorf("samples() has %q, which is no operation of the document", id)
		}
	}
}

// spendsItsToken calls the operation with a key that may do so once.
func (o *owner) spendsItsToken(op *operation, answered func(r request, want int, how string)) {
	o.t.Helper()
	slow := o.stage.newKey(o.t, o.name, "links:write")
	slower := request{method: http.MethodPatch, path: "/keys/" + slow.id, body: `{"create_rate": 0.01, "create_burst": 1}`}
	if a := o.stage.do(o.t, slower); a.status != http.StatusOK {
		o.t.Fatalf("make the key slow: status %d: %s", a.status, a.body)
	}
	for _, want := range []int{o.calls(op)[0].status, http.StatusTooManyRequests} {
		r := o.calls(op)[0].request(op, o)
		r.key = slow.text
		answered(r, want, "with a key that creates one link in 100 seconds")
	}
}

// refusal is a request and the status that it is refused with.
type refusal struct {
	request
	status int
}

// refused are the refusals that every operation of a kind has, made of a request that would succeed.
func refused(op *operation, good request) map[string]refusal {
	all := make(map[string]refusal)
	add := func(how string, status int, change func(r *request)) {
		r := good
		change(&r)
		all[how] = refusal{r, status}
	}
	path := good.path
	and := "?"
	if strings.Contains(path, "?") {
		and = "&"
	}
	add("with a malformed query", http.StatusBadRequest, func(r *request) { r.path += and + "%zz" })
	add("with an unknown parameter", http.StatusUnprocessableEntity, func(r *request) { r.path += and + "nonsense=1" })
	if len(op.placeholders()) > 0 {
		nowhere := make([]string, len(op.placeholders()))
		for i := range nowhere {
			nowhere[i] = "nothing-here.example"
		}
		add("of nothing", http.StatusNotFound, func(r *request) { r.path = op.at(nowhere, "") })
	}
	if op.bodySchema() != nil {
		const beyondAnyLimit = 8<<20 + 1
		add("with half a body", http.StatusBadRequest, func(r *request) { r.body = r.body[:len(r.body)-1] })
		add("with a body that is no object", http.StatusUnprocessableEntity, func(r *request) { r.body = "[]" })
		add("with another media type", http.StatusUnsupportedMediaType, func(r *request) {
			r.header = map[string]string{"Content-Type": "text/plain"}
		})
		add("with a body too large", http.StatusRequestEntityTooLarge, func(r *request) {
			r.body += strings.Repeat(" ", beyondAnyLimit-len(r.body))
		})
	}
	return all
}

// headIsGetWithoutBody holds for every operation that reads.
func (s *stage) headIsGetWithoutBody(t *testing.T, op *operation, head request, status int) {
	t.Helper()
	a := s.do(t, head)
	if a.status != status || len(a.body) > 0 {
		t.Errorf("HEAD %s: status %d with %d bytes, want %d as of GET, without a body", head.path, a.status, len(a.body), status)
	}
	as := *op
	as.method = http.MethodHead
	if err := s.conform(&as, a); err != nil {
		t.Errorf("HEAD %s: %v", head.path, err)
	}
}

// tire repeats a call without a key until its address has used up what it may, and returns the answer to that.
func (s *stage) tire(t *testing.T, r request) answer {
	t.Helper()
	for range 10_000 {
		if a := s.do(t, r); a.status == http.StatusTooManyRequests {
			return a
		}
	}
	t.Fatal("10,000 calls without a key were not limited")
	return answer{}
}

// nothingIsAnsweredWithoutAStore comes last: it leaves the second origin without one.
func (s *stage) nothingIsAnsweredWithoutAStore(t *testing.T) {
	o := s.newOwner(t)
	requests := make(map[*operation]request)
	for _, op := range s.operations {
		if calls := o.calls(op); len(calls) > 0 {
			r := calls[0].request(op, o)
			r.origin = 1
			requests[op] = r
		}
	}
	s.fleet.Origins[1].Database.Cut()
	defer s.fleet.Origins[1].Database.Heal()
	for op, r := range requests {
		a := s.do(t, r)
		if a.status != http.StatusServiceUnavailable {
			t.Errorf("%s: status %d, want 503: %.300s", op, a.status, a.body)
		}
		if err := s.conform(op, a); err != nil {
			t.Errorf("%s: %v", op, err)
		}
	}
}
