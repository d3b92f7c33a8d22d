package api_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestUnknownParametersAreNamed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for path, methods := range s.document().Paths {
		for method := range methods {
			concrete := "/api/v1" + strings.NewReplacer("{code}", "x", "{id}", "x").Replace(path)
			a := s.want(422, strings.ToUpper(method), concrete+"?tagg=x&Limit=1&%00.a=", `{}`)
			if got := a.fields(); !slices.Equal(got, []string{"\x00.a", "Limit", "tagg"}) {
				t.Errorf("%s %s: fields = %q", method, path, got)
			}
		}
	}
	if got := s.want(422, "GET", "/api/v1/links?"+strings.Repeat("x", 1000), "").fields(); len(got) != 1 || len(got[0]) > 70 {
		t.Errorf("a long name was repeated as %q", got)
	}
}

func TestParametersAreRefusedInTheWordsOfFields(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for query, want := range map[string]map[string]string{
		"ack=maybe":                 {"ack": "is not a known parameter"},
		"sort=x":                    {"sort": "must be created_at, -created_at or clicks"},
		"limit=0":                   {"limit": "must be a whole number from 1 to 100"},
		"limit=101":                 {"limit": "must be a whole number from 1 to 100"},
		"limit=1.5":                 {"limit": "must be a whole number from 1 to 100"},
		"limit=9223372036854775808": {"limit": "must be a whole number from 1 to 100"},
		"tag=a&tag=b":               {"tag": "is given more than once"},
		"limit=x&sort=y&nope":       {"limit": "must be a whole number from 1 to 100", "nope": "is not a known parameter", "sort": "must be created_at, -created_at or clicks"},
		"domain=other.example":      {"domain": "is not a registered domain"},
	} {
		a := s.want(422, "GET", "/api/v1/links?"+query, "")
		got := make(map[string]string)
		for _, f := range a.json["errors"].([]any) {
			fault := f.(map[string]any)
			got[fault["field"].(string)] = fault["reason"].(string)
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	a := s.want(422, "POST", "/api/v1/links?ack=maybe", `{"target": "https://example.com/"}`)
	if got := a.Body.String(); !strings.Contains(got, `"must be edges or commit"`) {
		t.Errorf("ack=maybe: %s", got)
	}
	s.want(200, "GET", "/api/v1/links?limit=&sort=&tag=", "")
	for _, malformed := range []string{"limit=%zz", "a;b", "%"} {
		s.want(400, "GET", "/api/v1/links?"+malformed, "")
	}
}

func TestNotFoundSaysWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for path, want := range map[string]string{
		"links/nope":                       `there is no link "nope" that this key may see`,
		"links/nope?domain=" + domain:      `there is no link "nope" on ` + domain + ` that this key may see`,
		"links/nope?domain=other.example":  `there is no domain "other.example": it is not registered`,
		"links/nope?domain=:80":            `there is no domain ":80": it is not registered`,
		"links/a%2Fb":                      `there is no link "a/b" that this key may see`,
		"links/" + strings.Repeat("x", 99): `there is no link "` + strings.Repeat("x", 64) + `..." that this key may see`,
	} {
		for _, method := range []string{"GET", "PATCH", "DELETE"} {
			body := map[string]string{"PATCH": `{"title": "t"}`}[method]
			if got := s.want(404, method, "/api/v1/"+path, body).json["detail"]; got != want {
				t.Errorf("%s %s: %q, want %q", method, path, got, want)
			}
		}
	}
	if got := s.want(404, "DELETE", "/api/v1/keys/zzz", "").json["detail"]; got != `there is no valid key with the id "zzz"` {
		t.Errorf("DELETE of no key: %q", got)
	}
}
