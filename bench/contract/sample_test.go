package contract

import (
	"fmt"
	"maps"
	"net/http"
)

// call is one call of an operation.
type call struct {
	path   []string // values of the path's placeholders, in order
	query  string
	body   string
	header map[string]string
	admin  bool // needs the admin's key; else the owner's will do
	status int  // of its answer

	// other is the status of the answer if the key of another owner, with all scopes but admin, calls the same. Where that
	// is a success, the answer must have nothing of the first owner's, and this in its body.
	other    int
	otherHas string
}

// samples says for every operation, by its operationId, how it is called: first so that it succeeds, then so that each
// status shows that is the operation's own. Those that all operations of a kind have are provoked by themselves. The
// calls are made once, in order.
func samples() map[string]func(o *owner) []call {
	all := make(map[string]func(o *owner) []call)
	for _, some := range []map[string]func(o *owner) []call{linkSamples(), statisticSamples(), keySamples(), domainSamples()} {
		maps.Copy(all, some)
	}
	return all
}

// calls are the samples of an operation. One without samples fails the test, and has none.
func (o *owner) calls(op *operation) []call {
	o.t.Helper()
	made, ok := samples()[op.OperationID]
	if !ok {
		o.t.Errorf("%s has no samples: add %q to samples(), with calls that succeed and what another owner's key is answered", op, op.OperationID)
		return nil
	}
	all := made(o)
	for i, c := range all {
		if c.status == 0 || c.other == 0 || i == 0 && c.status >= http.StatusBadRequest || len(c.path) != len(op.placeholders()) {
			o.t.Fatalf("sample %d of %s: it needs a value for each placeholder, status and other, and the first a success: %+v", i, op, c)
		}
	}
	return all
}

// request is the call as the owner makes it.
func (c call) request(op *operation, o *owner) request {
	r := request{method: op.method, path: op.at(c.path, c.query), body: c.body, header: c.header, key: o.key}
	if c.admin {
		r.key = o.stage.admin
	}
	return r
}

// String says what is called with.
func (c call) String() string {
	return fmt.Sprintf("%v?%s %.200s %v", c.path, c.query, c.body, c.header)
}
