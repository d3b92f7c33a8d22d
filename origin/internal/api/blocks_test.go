package api_test

import (
	"net/http"
	"reflect"
	"testing"
)

func TestBlocksByTheAPI(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.want(201, "POST", "/api/v1/blocks", `{"host": "Böse.example.", "kind": "suffix", "note": "phishing"}`)
	if made.json["host"] != "xn--bse-sna.example" || made.json["kind"] != "suffix" || made.json["note"] != "phishing" || made.json["source"] != "api" {
		t.Errorf("made %v", made.json)
	}
	if got := made.Header().Get("Location"); got != "/api/v1/blocks/xn--bse-sna.example" || made.Header().Get("Waypost-Propagation") == "" {
		t.Errorf("headers %v", made.Header())
	}
	s.want(200, "POST", "/api/v1/blocks", `{"host": "xn--bse-sna.example"}`)
	again := s.want(200, "POST", "/api/v1/blocks", `{"host": "böse.example", "kind": "suffix"}`)
	if again.json["note"] != "" || again.json["created_at"] != made.json["created_at"] {
		t.Errorf("again: %v, want a block as old, without a note", again.json)
	}
	for _, field := range []string{"target", "expired_url"} {
		body := `{"target": "https://fine.example/", "` + field + `": "https://a.böse.example/"}`
		if field == "target" {
			body = `{"target": "https://a.böse.example/"}`
		}
		if a := s.want(422, "POST", "/api/v1/links", body); !reflect.DeepEqual(a.fields(), []string{field}) {
			t.Errorf("%s to a blocked host: %v refused", field, a.fields())
		}
	}
	s.want(201, "POST", "/api/v1/blocks", `{"host": "[2001:db8:0::1]"}`)
	if a := s.want(422, "POST", "/api/v1/links", `{"target": "http://[2001:DB8::1]:80/"}`); !reflect.DeepEqual(a.fields(), []string{"target"}) {
		t.Errorf("a blocked address: %v refused", a.fields())
	}
	listed := s.want(200, "GET", "/api/v1/blocks", "")
	if items, _ := listed.json["items"].([]any); len(items) != 2 || listed.json["next_cursor"] != nil {
		t.Errorf("listed %v, want both", listed.json)
	}
	for path, want := range map[string]any{made.Header().Get("Location"): again.json, "/api/v1/blocks/B%C3%96SE.example": again.json} {
		if shown := s.want(200, "GET", path, ""); !reflect.DeepEqual(shown.json, want) {
			t.Errorf("%s: %v, want %v", path, shown.json, want)
		}
	}
	address := s.want(200, "POST", "/api/v1/blocks", `{"host": "2001:db8::1"}`)
	if shown := s.want(200, "GET", address.Header().Get("Location"), ""); shown.json["host"] != "[2001:db8::1]" {
		t.Errorf("an address, where it is said to be: %v", shown.json)
	}
	for _, host := range []string{"a.xn--bse-sna.example", "a%2Fb", "never.example"} {
		s.want(404, "GET", "/api/v1/blocks/"+host, "")
	}
	s.want(204, "DELETE", "/api/v1/blocks/%5B2001:db8::1%5D", "")
	s.want(204, "DELETE", "/api/v1/blocks/B%C3%96SE.example", "")
	for _, host := range []string{"xn--bse-sna.example", "a%2Fb", "never.example"} {
		s.want(404, "DELETE", "/api/v1/blocks/"+host, "")
	}
	s.want(201, "POST", "/api/v1/links", `{"target": "https://a.böse.example/"}`)
	for body, fields := range map[string][]string{
		`{}`:                           {"host"},
		`{"host": null}`:               {"host"},
		`{"host": "http://x.example"}`: {"host"},
		`{"host": "192.0.2.1", "kind": "suffix"}`: {"kind"},
		`{"host": 5, "kind": "all", "x": 1}`:      {"host", "x"},
		`{"host": "x.example", "kind": "all"}`:    {"kind"},
		`{"host": "x.example", "note": "\u0000"}`: {"note"},
	} {
		if a := s.want(http.StatusUnprocessableEntity, "POST", "/api/v1/blocks", body); !reflect.DeepEqual(a.fields(), fields) {
			t.Errorf("%s: %v refused, want %v", body, a.fields(), fields)
		}
	}
	if cfg, err := s.store.Config(t.Context()); err != nil || cfg.Blocks() != nil {
		t.Errorf("what is left: %v, %v, want no blocks", cfg, err)
	}
}
