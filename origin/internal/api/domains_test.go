package api_test

import (
	"reflect"
	"testing"
)

func TestADomainByTheAPI(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	changes, waits := s.published.len(), s.barrier.len()
	made := s.want(201, "POST", "/api/v1/domains", `{"host": "Kurz.Example.", "not_found_url": "https://example.com/404", "status": 301, "clicks": "off"}`)
	if got := made.Header().Get("Location"); got != "/api/v1/domains/kurz.example" {
		t.Errorf("Location = %q", got)
	}
	if got := made.Header().Get("Waypost-Propagation"); got == "" || s.published.len() != changes+1 || s.barrier.len() != waits+1 {
		t.Errorf("propagation %q, %d changes, %d waits, want one of each", got, s.published.len()-changes, s.barrier.len()-waits)
	}
	want := map[string]any{
		"host": "kurz.example", "home_url": nil, "not_found_url": "https://example.com/404", "expired_url": nil,
		"status": 301.0, "query": "off", "suffix": "off", "class": "available", "clicks": "off", "version": 2.0,
	}
	if !reflect.DeepEqual(made.json, want) {
		t.Errorf("made %v, want %v", made.json, want)
	}
	tag := made.Header().Get("ETag")
	shown := s.want(200, "GET", "/api/v1/domains/KURZ.example", "")
	if !reflect.DeepEqual(shown.json, want) || shown.Header().Get("ETag") != tag || tag != `"1.2"` {
		t.Errorf("shown %v at %s, want %v at %s", shown.json, shown.Header().Get("ETag"), want, tag)
	}
	s.want(304, "GET", "/api/v1/domains/kurz.example", "", header("If-None-Match", tag))
	s.want(409, "POST", "/api/v1/domains", `{"host": "kurz.example"}`)

	s.want(412, "PATCH", "/api/v1/domains/kurz.example", `{"status": null}`, header("If-Match", `"1.9"`))
	changed := s.want(200, "PATCH", "/api/v1/domains/kurz.example", `{"status": null, "home_url": "https://example.com/"}`, header("If-Match", tag))
	if changed.json["status"] != 302.0 || changed.json["home_url"] != "https://example.com/" || changed.Header().Get("ETag") != `"1.3"` {
		t.Errorf("changed to %v at %s", changed.json, changed.Header().Get("ETag"))
	}
	if a := s.want(422, "PATCH", "/api/v1/domains/kurz.example", `{"host": "other.example"}`); !reflect.DeepEqual(a.fields(), []string{"host"}) {
		t.Errorf("another host: %v refused", a.fields())
	}

	link := s.want(201, "POST", "/api/v1/links?ack=commit", `{"target": "https://example.com/", "alias": "a", "domain": "kurz.example"}`)
	if link.json["clicks"] != "off" || link.json["status"] != 302.0 {
		t.Errorf("a link of it: %v, want the domain's clicks", link.json)
	}
	s.want(409, "DELETE", "/api/v1/domains/kurz.example", "")
	s.want(204, "DELETE", "/api/v1/links/a?domain=kurz.example", "")
	s.want(204, "DELETE", "/api/v1/domains/kurz.example", "")
	for _, call := range [][3]string{
		{"GET", "/api/v1/domains/kurz.example", ""},
		{"PATCH", "/api/v1/domains/kurz.example", `{}`},
		{"DELETE", "/api/v1/domains/kurz.example", ""},
		{"GET", "/api/v1/domains/default", ""},
		{"GET", "/api/v1/domains/a%2Fb", ""},
		{"GET", "/api/v1/domains/%00", ""},
	} {
		s.want(404, call[0], call[1], call[2])
	}
	if a := s.want(422, "POST", "/api/v1/links", `{"target": "https://example.com/", "domain": "kurz.example"}`); !reflect.DeepEqual(a.fields(), []string{"domain"}) {
		t.Errorf("a link of a domain that is gone: %v refused", a.fields())
	}
}

func TestTheDefaultDomainByTheAPI(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	unset := s.want(200, "GET", "/api/v1/domains/_default", "")
	if unset.json["host"] != "" || unset.json["version"] != 0.0 || unset.Header().Get("ETag") != `"1.0"` {
		t.Errorf("unset: %v at %s", unset.json, unset.Header().Get("ETag"))
	}
	s.want(200, "PATCH", "/api/v1/domains/_default", `{"not_found_url": "https://example.com/404"}`, header("If-Match", `"1.0"`))
	s.want(412, "PATCH", "/api/v1/domains/_default", `{"not_found_url": null}`, header("If-Match", `"1.0"`))
	s.want(409, "DELETE", "/api/v1/domains/_default", "")
	s.want(422, "POST", "/api/v1/domains", `{"host": "_default"}`)
	s.want(422, "POST", "/api/v1/domains", `{"host": "wp.example"}`) // the public host is the default domain's
}

func TestTheDefaultDomainHasANameInEveryRequest(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "a", "domain": "_default"}`)
	if made.json["domain"] != "" || made.Header().Get("Location") != "/api/v1/links/a" {
		t.Errorf("made %v at %s, want it on the default domain", made.json, made.Header().Get("Location"))
	}
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "b", "domain": "`+domain+`"}`)
	for _, path := range []string{"", "/qr", "/history", "/stats", "/clicks"} {
		s.want(200, "GET", "/api/v1/links/a"+path+"?domain=_default", "")
		s.want(404, "GET", "/api/v1/links/b"+path+"?domain=_default", "")
	}
	s.want(200, "PATCH", "/api/v1/links/a?domain=_default", `{"title": "t"}`)
	if items, _ := s.want(200, "GET", "/api/v1/links?domain=_default", "").json["items"].([]any); len(items) != 1 {
		t.Errorf("listed %v, want a", items)
	}
	if a := s.want(200, "POST", "/api/v1/purge", `{"codes": ["a", "b"], "domain": "_default"}`); a.json["purged"] != 1.0 {
		t.Errorf("purged %v, want a", a.json)
	}
	s.want(204, "DELETE", "/api/v1/links/a?domain=_default", "")
	s.want(404, "GET", "/api/v1/links/b?domain=_DEFAULT", "")
	s.want(422, "GET", "/api/v1/links?domain=_other", "")
}

func TestDomainsAreListedByHost(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, host := range []string{"b.example", "z.example", "a.example"} {
		s.want(201, "POST", "/api/v1/domains?ack=commit", `{"host": "`+host+`"}`)
	}
	reader := bearer(s.key("ann", "links:read"))
	for limit, pages := range map[string]int{"1": 5, "2": 3} { // the first page of one ends with the default domain
		var hosts []any
		next, more, read := "", true, 0
		for ; more && read < pages; read++ {
			page := s.want(200, "GET", "/api/v1/domains?limit="+limit+"&cursor="+next, "", reader)
			items, _ := page.json["items"].([]any)
			for _, item := range items {
				shown, _ := item.(map[string]any)
				hosts = append(hosts, shown["host"])
			}
			next, more = page.json["next_cursor"].(string)
		}
		if want := []any{"", "a.example", "b.example", domain, "z.example"}; !reflect.DeepEqual(hosts, want) {
			t.Errorf("listed by %s: %v, want %v", limit, hosts, want)
		}
		if more || read != pages {
			t.Errorf("listed by %s: %d pages, and more %t, want %d", limit, read, more, pages)
		}
	}
	for _, query := range []string{"cursor=%21", "cursor=AA", "cursor=YS5leGFtcGxl", "limit=0", "limit=101", "q=x"} {
		s.want(422, "GET", "/api/v1/domains?"+query, "", reader)
	}
	for _, call := range [][3]string{
		{"POST", "/api/v1/domains", `{"host": "x.example"}`},
		{"PATCH", "/api/v1/domains/" + domain, `{}`},
		{"DELETE", "/api/v1/domains/" + domain, ""},
		{"GET", "/api/v1/blocks", ""},
		{"POST", "/api/v1/blocks", `{"host": "x.example"}`},
		{"GET", "/api/v1/blocks/x.example", ""},
		{"DELETE", "/api/v1/blocks/x.example", ""},
	} {
		s.want(403, call[0], call[1], call[2], bearer(s.key("ann", "links:read", "links:write")))
	}
}
