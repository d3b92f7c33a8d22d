package e2e

import (
	"net/http"
	"testing"

	"waypost/bench/fleet"
)

func TestADomainsURLsHoldAtEveryEdgeAtOnce(t *testing.T) {
	t.Parallel()
	f := audited(t, fleet.Spec{OriginEnv: map[string]string{"WAYPOST_STALE_BOUND": "5s", "WAYPOST_DOMAINS": "old.example"}})
	api := f.API(t)
	const home, none, over = "https://example.com/home", "https://example.com/none", "https://example.com/over"
	write := func(status int, method, path string, body any) {
		t.Helper()
		answer, err := api.Do(t.Context(), method, path, body)
		if r := wrote(t, answer, err); answer.Status != status || r.Edges != len(f.Edges) || r.Acked != len(f.Edges) {
			t.Fatalf("%s %s: %d %s, receipt %+v, want %d and all of %d edges", method, path, answer.Status, answer.Body, r, status, len(f.Edges))
		}
	}
	// at says where every edge sends a visitor of the host; "" for nowhere, with that status.
	at := func(host, path string, status int, location string) {
		t.Helper()
		for _, e := range f.Edges {
			r := e.Must(t, fleet.Request{Host: host, Path: path})
			if r.Status != status || r.Location() != location {
				t.Errorf("%s: %s%s: got %d to %q, want %d to %q", e.Name, host, path, r.Status, r.Location(), status, location)
			}
			if marked(r) {
				t.Errorf("%s: %s%s is marked: %v", e.Name, host, path, r.Header)
			}
		}
	}
	at("new.example", "/", http.StatusOK, "")
	write(http.StatusCreated, http.MethodPost, "/domains", fleet.Fields{
		"host": "New.example", "home_url": home, "not_found_url": none, "expired_url": over, "status": 307,
	})
	at("new.example", "/", http.StatusFound, home)
	at("new.example", "/nosuch", http.StatusFound, none)
	at("old.example", "/", http.StatusOK, "")
	at("old.example", "/nosuch", http.StatusNotFound, "")

	l := api.MustCreate(t, fleet.Fields{"target": "https://example.com/", "alias": "a", "domain": "new.example"})
	at("new.example", "/a", http.StatusTemporaryRedirect, l.Target)
	at("", "/a", http.StatusNotFound, "")
	write(http.StatusOK, http.MethodPatch, "/links/a?domain=new.example", fleet.Fields{"expires_at": "2020-01-01T00:00:00Z"})
	at("new.example", "/a", http.StatusFound, over)
	write(http.StatusOK, http.MethodPatch, "/domains/new.example", fleet.Fields{"expired_url": nil, "not_found_url": "https://example.com/none/2"})
	at("new.example", "/a", http.StatusGone, "")
	at("new.example", "/nosuch", http.StatusFound, "https://example.com/none/2")
	write(http.StatusCreated, http.MethodPost, "/blocks", fleet.Fields{"host": "example.com"})
	at("new.example", "/", http.StatusOK, "")
	at("new.example", "/nosuch", http.StatusNotFound, "")
	write(http.StatusNoContent, http.MethodDelete, "/blocks/example.com", nil)
	at("new.example", "/", http.StatusFound, home)

	write(http.StatusOK, http.MethodPatch, "/domains/_default", fleet.Fields{"not_found_url": none, "home_url": home})
	at("any.example", "/", http.StatusFound, home)
	at("any.example", "/nosuch", http.StatusFound, none)
	at("old.example", "/nosuch", http.StatusNotFound, "")

	answer, err := api.Do(t.Context(), http.MethodDelete, "/domains/new.example", nil)
	if err != nil || answer.Status != http.StatusConflict {
		t.Errorf("delete a domain with a link: %d %s, %v, want 409", answer.Status, answer.Body, err)
	}
	write(http.StatusNoContent, http.MethodDelete, "/links/a?domain=new.example", nil)
	write(http.StatusNoContent, http.MethodDelete, "/domains/new.example", nil)
	at("new.example", "/a", http.StatusFound, none) // the default domain answers for it again
	f.Origins[0].Restart(t)
	f.Settle(t)
	at("any.example", "/", http.StatusFound, home)
	neverStale(t, f)
}
