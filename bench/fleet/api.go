package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"testing"
)

// Fields is a JSON object of the API.
type Fields map[string]any

// Link is what a test wants to know of a link.
type Link struct {
	Domain  string `json:"domain"`
	Code    string `json:"code"`
	Target  string `json:"target"`
	Version uint64 `json:"version"`
}

// Path is the link's path at an edge, percent-encoded.
func (l Link) Path() string { return (&url.URL{Path: "/" + l.Code}).EscapedPath() }

// Answer is an answer of the API.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// API calls an origin's public listener with a key. Safe for concurrent use.
type API struct {
	base string
	key  string
	http *http.Client
}

func newAPI(tb testing.TB, addr, key string) *API {
	tb.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	tb.Cleanup(transport.CloseIdleConnections)
	return &API{base: "http://" + addr + "/api/v1", key: key, http: &http.Client{Transport: transport, Timeout: answerLimit}}
}

// Do sends a call; body is nil for none, json.RawMessage as it is, all else as JSON.
func (a *API) Do(ctx context.Context, method, path string, body any) (Answer, error) {
	return a.DoIf(ctx, "", method, path, body)
}

// DoIf is Do on a condition: match is the value of If-Match, an ETag, or "" for none.
func (a *API) DoIf(ctx context.Context, match, method, path string, body any) (Answer, error) {
	header := http.Header{}
	if match != "" {
		header.Set("If-Match", match)
	}
	return a.DoWith(ctx, header, method, path, body)
}

// DoOnce is Do of a call that is to be carried out once, by the name that the API key gives it.
func (a *API) DoOnce(ctx context.Context, name, method, path string, body any) (Answer, error) {
	return a.DoWith(ctx, http.Header{"Idempotency-Key": {name}}, method, path, body)
}

// DoWith is Do with further headers, in their canonical form.
func (a *API) DoWith(ctx context.Context, header http.Header, method, path string, body any) (Answer, error) {
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return Answer{}, err
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.base+path, in)
	if err != nil {
		return Answer{}, err
	}
	maps.Copy(req.Header, header)
	req.Header.Set("Authorization", "Bearer "+a.key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.http.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	answer := Answer{Status: resp.StatusCode, Header: resp.Header}
	answer.Body, err = io.ReadAll(resp.Body)
	return answer, err
}

// want is Do, with an error for any other status; into takes the body unless it is nil.
func (a *API) want(ctx context.Context, status int, method, path string, body, into any) error {
	answer, err := a.Do(ctx, method, path, body)
	switch {
	case err != nil:
		return err
	case answer.Status != status:
		return fmt.Errorf("%s %s: got status %d, want %d: %s", method, path, answer.Status, status, answer.Body)
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(answer.Body, into); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// Create makes a link. The error of a refused creation has its status and body.
func (a *API) Create(ctx context.Context, fields any) (l Link, err error) {
	err = a.want(ctx, http.StatusCreated, http.MethodPost, "/links", fields, &l)
	return l, err
}

// Patch changes fields of a link and returns it as it is then.
func (a *API) Patch(ctx context.Context, l Link, fields any) (changed Link, err error) {
	err = a.want(ctx, http.StatusOK, http.MethodPatch, l.resource(), fields, &changed)
	return changed, err
}

// Delete removes a link.
func (a *API) Delete(ctx context.Context, l Link) error {
	return a.want(ctx, http.StatusNoContent, http.MethodDelete, l.resource(), nil, nil)
}

// List lists the codes of links by a query, and the cursor of the next page.
func (a *API) List(ctx context.Context, query string) (codes []string, next string, err error) {
	var page struct {
		Items []Link `json:"items"`
		Next  string `json:"next_cursor"`
	}
	err = a.want(ctx, http.StatusOK, http.MethodGet, "/links?"+query, nil, &page)
	for _, l := range page.Items {
		codes = append(codes, l.Code)
	}
	return codes, page.Next, err
}

// Bulk makes links, at most 1,000; all of them must succeed.
func (a *API) Bulk(ctx context.Context, items []Fields) ([]Link, error) {
	var answer struct {
		Results []struct {
			Status int             `json:"status"`
			Link   Link            `json:"link"`
			Error  json.RawMessage `json:"error"`
		} `json:"results"`
	}
	if err := a.want(ctx, http.StatusOK, http.MethodPost, "/links/bulk", Fields{"items": items}, &answer); err != nil {
		return nil, err
	}
	if len(answer.Results) != len(items) {
		return nil, differs("results of a bulk", len(answer.Results), len(items))
	}
	made := make([]Link, len(items))
	for i, r := range answer.Results {
		if r.Status != http.StatusCreated {
			return nil, fmt.Errorf("bulk item %d: status %d: %s", i, r.Status, r.Error)
		}
		made[i] = r.Link
	}
	return made, nil
}

func (l Link) resource() string {
	path := "/links/" + url.PathEscape(l.Code)
	if l.Domain != "" {
		path += "?domain=" + url.QueryEscape(l.Domain)
	}
	return path
}

// MustCreate is Create for a test that cannot go on without the link.
func (a *API) MustCreate(tb testing.TB, fields any) Link {
	tb.Helper()
	l, err := a.Create(tb.Context(), fields)
	if err != nil {
		tb.Fatalf("create %v: %v", fields, err)
	}
	return l
}

// MustPatch is Patch for a test that cannot go on without the change.
func (a *API) MustPatch(tb testing.TB, l Link, fields any) Link {
	tb.Helper()
	changed, err := a.Patch(tb.Context(), l, fields)
	if err != nil {
		tb.Fatalf("patch %s: %v", l.Code, err)
	}
	return changed
}

// MustDelete is Delete for a test that cannot go on while the link is there.
func (a *API) MustDelete(tb testing.TB, l Link) {
	tb.Helper()
	if err := a.Delete(tb.Context(), l); err != nil {
		tb.Fatalf("delete %s: %v", l.Code, err)
	}
}

// MustBulk makes n links in calls of at most 1,000 items; item gives the fields of the i-th.
func (a *API) MustBulk(tb testing.TB, n int, item func(i int) Fields) []Link {
	tb.Helper()
	const most = 1000
	var made []Link
	for len(made) < n {
		items := make([]Fields, min(most, n-len(made)))
		for i := range items {
			items[i] = item(len(made) + i)
		}
		some, err := a.Bulk(tb.Context(), items)
		if err != nil {
			tb.Fatalf("bulk of %d: %v", len(items), err)
		}
		made = append(made, some...)
	}
	return made
}
