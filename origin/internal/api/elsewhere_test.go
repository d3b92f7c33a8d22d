package api_test

import (
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/feed"
)

// TestWhatIsConfiguredElsewhereHoldsForTheNextCreation has an origin make links
// by the config that it knows, while another one changes that.
func TestWhatIsConfiguredElsewhereHoldsForTheNextCreation(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := serverOn(t, url)
	other, err := postgres.Open(t.Context(), postgres.Config{URL: url})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(other.Close)
	set := func(row, value string) {
		t.Helper()
		results, err := other.WriteConfig(t.Context(), []links.ConfigMutation{{
			Row: row, Merge: func(*links.ConfigRow, time.Time) (string, error) { return value, nil },
		}})
		if err != nil || results[0].Err != nil {
			t.Fatalf("WriteConfig %s: %+v, %v", row, results, err)
		}
	}
	const (
		target   = `{"target": "https://shop.example/", "reuse": true}`
		onDomain = `{"target": "https://example.com/", "domain": "new.example"}`
	)
	block := feed.BlockRow(feed.BlockByAPI, "shop.example")

	s.want(201, "POST", "/api/v1/links", target)
	set(block, `{"host":"shop.example"}`)
	s.want(422, "POST", "/api/v1/links", target) // also where there is a link to reuse
	set(block, "")
	s.want(200, "POST", "/api/v1/links", target)

	s.want(422, "POST", "/api/v1/links", onDomain)
	set(feed.DomainRow("new.example"), `{"host":"new.example","status":308}`)
	if a := s.want(201, "POST", "/api/v1/links", onDomain); a.json["status"] != 308.0 {
		t.Errorf("status %v, want the domain's: 308", a.json["status"])
	}
	set(feed.DomainRow("new.example"), `{"host":"new.example","status":307}`)
	if a := s.want(201, "POST", "/api/v1/links", onDomain); a.json["status"] != 307.0 {
		t.Errorf("status %v, want what the domain has now: 307", a.json["status"])
	}
}
