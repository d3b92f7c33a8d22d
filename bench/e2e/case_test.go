package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"waypost/bench/fleet"
)

// redirectCase is one line of a file of cases.
type redirectCase struct {
	Name       string            `json:"name"`
	Before     []json.RawMessage `json:"before"` // links that are there already
	Create     json.RawMessage   `json:"create"` // body of the creation, null for none
	WantCreate int               `json:"want_create"`
	Steps      []step            `json:"steps"`
	Request    *request          `json:"request"`
	Want       answer            `json:"want"`
}

// step is what happens between creation and request. One field is set.
type step struct {
	Get    int             `json:"get"` // at both edges: the status that is expected
	Patch  json.RawMessage `json:"patch"`
	Delete bool            `json:"delete"`
	WaitMS int             `json:"wait_ms"`
}

type request struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Host    string            `json:"host"`
	Headers map[string]string `json:"headers"`
}

type answer struct {
	Status    statuses           `json:"status"`
	Location  json.RawMessage    `json:"location"` // a string, null for no such header, or left out
	Header    map[string]*string `json:"header"`   // null for no such header
	BodyHas   string             `json:"body_has"`
	BodyLacks string             `json:"body_lacks"`
}

// statuses is one number or a list of them.
type statuses []int

// UnmarshalJSON implements json.Unmarshaler.
func (s *statuses) UnmarshalJSON(b []byte) error {
	var one int
	if err := json.Unmarshal(b, &one); err == nil {
		*s = statuses{one}
		return nil
	}
	return json.Unmarshal(b, (*[]int)(s))
}

func readCases(t *testing.T, file string) (cases []redirectCase) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		var c redirectCase
		if err := dec.Decode(&c); err != nil {
			t.Fatalf("%s: %.80s: %v", file, line, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// run plays the case on every edge of the fleet.
func (c *redirectCase) run(t *testing.T, f *fleet.Fleet, api *fleet.API) {
	t.Helper()
	for _, body := range c.Before {
		remove(t, f, api, api.MustCreate(t, body))
	}
	var link fleet.Link
	if len(c.Create) > 0 && string(c.Create) != "null" {
		link = c.create(t, api)
		if link.Code != "" {
			remove(t, f, api, link)
		}
	}
	if c.Request == nil {
		if c.WantCreate == 0 {
			t.Fatal("the case asks for nothing")
		}
		return
	}
	req := fleet.Request{
		Method: c.Request.Method, Path: strings.ReplaceAll(c.Request.Path, "{code}", link.Code),
		Host: c.Request.Host, Header: c.Request.Headers,
	}
	f.Settle(t)
	for _, s := range c.Steps {
		c.step(t, f, api, link, req, s)
	}
	for _, e := range f.Edges {
		// Once from beyond L1, once from it.
		for _, round := range []string{"first", "second"} {
			if err := c.Want.matches(e.Must(t, req)); err != nil {
				t.Errorf("%s, %s time: %v", e.Name, round, err)
			}
		}
	}
}

// create sends the case's creation and returns the link, the zero one where it was rightly refused.
func (c *redirectCase) create(t *testing.T, api *fleet.API) (link fleet.Link) {
	t.Helper()
	made, err := api.Do(t.Context(), http.MethodPost, "/links", c.Create)
	if err != nil {
		t.Fatal(err)
	}
	want := c.WantCreate
	if want == 0 {
		want = http.StatusCreated
	}
	if made.Status != want {
		t.Fatalf("create: got status %d, want %d: %s", made.Status, want, made.Body)
	}
	if made.Status >= http.StatusBadRequest {
		if got := made.Header.Get("Content-Type"); got != "application/problem+json" {
			t.Errorf("a refusal's Content-Type: got %q, want application/problem+json", got)
		}
		return fleet.Link{}
	}
	if err := json.Unmarshal(made.Body, &link); err != nil {
		t.Fatalf("create: %v", err)
	}
	return link
}

func (c *redirectCase) step(t *testing.T, f *fleet.Fleet, api *fleet.API, link fleet.Link, req fleet.Request, s step) {
	t.Helper()
	switch {
	case s.Get != 0:
		for _, e := range f.Edges {
			if got := e.Must(t, req).Status; got != s.Get {
				t.Errorf("step: %s: got status %d, want %d", e.Name, got, s.Get)
			}
		}
	case s.Patch != nil:
		api.MustPatch(t, link, s.Patch)
		f.Settle(t)
	case s.Delete:
		api.MustDelete(t, link)
		f.Settle(t)
	case s.WaitMS != 0:
		fleet.Pass(t, time.Duration(s.WaitMS)*time.Millisecond)
	}
}

// remove deletes a case's link once the case is done, so that others may take its alias.
func remove(t *testing.T, f *fleet.Fleet, api *fleet.API, link fleet.Link) {
	t.Helper()
	t.Cleanup(func() {
		ctx := contextOf(t)
		path := "/links/" + link.Path()[1:] + "?domain=" + link.Domain
		if _, err := api.Do(ctx, http.MethodDelete, path, nil); err != nil {
			t.Errorf("remove the case's link: %v", err)
		}
	})
}

// matches tells what of a reply is not as wanted.
func (a *answer) matches(r fleet.Reply) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if !slices.Contains(a.Status, r.Status) {
		fault("status: got %d, want %v", r.Status, a.Status)
	}
	if len(a.Location) > 0 {
		var want *string
		if err := json.Unmarshal(a.Location, &want); err != nil {
			return err
		}
		faults = append(faults, matchHeader(r, "Location", want))
	}
	for name, want := range a.Header {
		faults = append(faults, matchHeader(r, name, want))
	}
	if !strings.Contains(r.Body, a.BodyHas) {
		fault("body lacks %q: %s", a.BodyHas, r.Body)
	}
	if a.BodyLacks != "" && strings.Contains(r.Body, a.BodyLacks) {
		fault("body has %q: %s", a.BodyLacks, r.Body)
	}
	return errors.Join(faults...)
}

// matchHeader compares a header's only value; want is nil for no such header.
func matchHeader(r fleet.Reply, name string, want *string) error {
	got := r.Header.Values(name)
	switch {
	case want == nil && len(got) == 0, want != nil && len(got) == 1 && got[0] == *want:
		return nil
	case want == nil:
		return fmt.Errorf("%s: got %q, want none", name, got)
	}
	return fmt.Errorf("%s: got %q, want %q", name, got, *want)
}
