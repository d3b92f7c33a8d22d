package contract

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/jackc/pgx/v5"

	"waypost/bench/fleet"
)

// prefix stands before the path of every operation.
const prefix = "/api/v1"

// What the service is started with: a registered domain, and a host that the operator blocks.
const (
	domain        = "go.example.com"
	blockedByFile = "blocked.example"
)

// stage is a running service, its document and what is needed to call every operation of it.
type stage struct {
	fleet   *fleet.Fleet
	client  *http.Client
	doc     *openapi3.T
	schemas *schemas
	rows    *pgx.Conn
	count   string // statement of written

	operations []*operation
	admin      string // a key
	addresses  atomic.Uint32
	names      atomic.Uint32
}

// operation is one of the document's.
type operation struct {
	*openapi3.Operation
	method, path string
}

// newStage starts two origins, of which the second can be cut off from its store, and one edge.
func newStage(t *testing.T) *stage {
	t.Helper()
	blocks := filepath.Join(t.TempDir(), "blocks")
	if err := os.WriteFile(blocks, []byte(blockedByFile+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := fleet.Start(t, fleet.Spec{
		Binaries: binaries, Origins: 2, Edges: []string{"eu"}, PrivatePostgres: true, ProxyPostgres: true,
		OriginEnv: map[string]string{
			"WAYPOST_STALE_BOUND": "5s", "WAYPOST_DOMAINS": domain, "WAYPOST_TRUSTED_PROXIES": "127.0.0.0/8",
			"WAYPOST_LIMIT_CREATE_RATE": "10000", "WAYPOST_LIMIT_CREATE_BURST": "100000",
			"WAYPOST_BLOCK_FILE": blocks,
		},
	})
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	s := &stage{fleet: f, client: &http.Client{Transport: transport, CheckRedirect: asAnswered}, admin: f.AdminKeys(t)[0]}
	rows, err := pgx.Connect(t.Context(), f.Postgres.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rows.Close(context.WithoutCancel(t.Context())) })
	s.rows = rows
	served := s.do(t, request{method: http.MethodGet, path: "/openapi.json", anonymous: true})
	if s.doc, err = openapi3.NewLoader().LoadFromData(served.body); err != nil {
		t.Fatalf("the document: %v", err)
	}
	s.schemas = newSchemas(t, served.body)
	for _, path := range s.doc.Paths.InMatchingOrder() {
		for method, op := range s.doc.Paths.Value(path).Operations() {
			s.operations = append(s.operations, &operation{Operation: op, method: method, path: path})
		}
	}
	slices.SortFunc(s.operations, func(a, b *operation) int {
		return strings.Compare(a.path+" "+a.method, b.path+" "+b.method)
	})
	if len(s.operations) < 16 {
		t.Fatalf("the document has %d operations, want at least 16", len(s.operations))
	}
	return s
}

func asAnswered(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// request is a call of the API; the zero fields take what stands beside them.
type request struct {
	method    string
	path      string // under the prefix, percent-encoded, with its query
	body      string
	key       string // the admin's
	anonymous bool   // no key, from an address of its own
	from      string // address, 127.0.0.1
	header    map[string]string
	origin    int // which origin
}

// answer is what a call is answered with.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// streamed is what is read of an answer that does not end by itself.
const streamed = 1500 * time.Millisecond

// do calls the API. Of a stream of events it takes what comes within a moment.
func (s *stage) do(t *testing.T, r request) answer {
	t.Helper()
	a, err := s.try(t.Context(), r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	return a
}

func (s *stage) try(ctx context.Context, r request) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var body io.Reader
	if r.body != "" {
		body = strings.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, "http://"+s.fleet.Origins[r.origin].API+prefix+r.path, body)
	if err != nil {
		return answer{}, err
	}
	switch {
	case r.anonymous && r.from == "":
		r.from = s.address()
	case !r.anonymous && r.key == "":
		r.key = s.admin
	}
	if !r.anonymous {
		req.Header.Set("Authorization", "Bearer "+r.key)
	}
	if r.from != "" {
		req.Header.Set("X-Forwarded-For", r.from)
	}
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // read as far as it is of interest
	a := answer{status: resp.StatusCode, header: resp.Header}
	if resp.Header.Get("Content-Type") == mediaEvents {
		enough := time.AfterFunc(streamed, cancel)
		defer enough.Stop()
		a.body, _ = io.ReadAll(resp.Body) // ends with the error of its end
		return a, nil
	}
	a.body, err = io.ReadAll(resp.Body)
	return a, err
}

// address is one that nothing was sent from yet.
func (s *stage) address() string {
	n := s.addresses.Add(1)
	return fmt.Sprintf("192.0.%d.%d", 2+n/250, 1+n%250)
}

// name is one that nothing has yet.
func (s *stage) name(kind string) string { return fmt.Sprintf("%s-%d", kind, s.names.Add(1)) }

// scope is that which the operation needs.
func (op *operation) scope() string {
	for _, requirement := range *op.Security {
		for _, scopes := range requirement {
			return scopes[0]
		}
	}
	return ""
}

// placeholders are the names of the path's parameters, in order.
func (op *operation) placeholders() (names []string) {
	for part := range strings.SplitSeq(op.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// at is the operation's path with values for its placeholders, and a query.
func (op *operation) at(values []string, query string) string {
	path := op.path
	for i, name := range op.placeholders() {
		path = strings.Replace(path, "{"+name+"}", url.PathEscape(values[i]), 1)
	}
	if query != "" {
		path += "?" + query
	}
	return path
}

// bodySchema is that of the body which the operation takes, nil if it takes none.
func (op *operation) bodySchema() *openapi3.Schema {
	if op.RequestBody == nil {
		return nil
	}
	return op.RequestBody.Value.Content["application/json"].Schema.Value
}

func (op *operation) String() string { return op.method + " " + op.path }
