package web_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"waypost/origin/internal/web"
)

// page is what a request for the page is answered.
func page(t *testing.T, options ...func(*http.Request)) string {
	t.Helper()
	h, err := web.New([]byte(openAPI))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", "/docs", nil)
	for _, option := range options {
		option(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Body.String()
}

func TestFirstStepsNameTheServerThatWasAsked(t *testing.T) {
	t.Parallel()
	const placeholder = "http://HOST:PORT"
	for host, want := range map[string]string{
		"127.0.0.1:9000":            "http://127.0.0.1:9000",
		"api.example.com":           "http://api.example.com",
		"API.example.com.:8443":     "http://API.example.com.:8443",
		"[2001:db8::1]:9000":        "http://[2001:db8::1]:9000",
		"[::1]":                     "http://[::1]",
		"":                          placeholder,
		"::1":                       placeholder,
		"[::1":                      placeholder,
		"[::1%25eth0]":              placeholder,
		"[example.com]:80":          placeholder,
		"example.com:":              placeholder,
		"example.com:0":             placeholder,
		"example.com:65536":         placeholder,
		"example.com:80:80":         placeholder,
		"-x.example":                placeholder,
		"a..b":                      placeholder,
		"user@example.com":          placeholder,
		"example.com/x":             placeholder,
		"example.com;reboot":        placeholder,
		"$(reboot)":                 placeholder,
		"`reboot`":                  placeholder,
		"a b":                       placeholder,
		"a\nreboot":                 placeholder,
		"<script>":                  placeholder,
		"m\u00fcnchen.example":      placeholder,
		strings.Repeat("a.", 200):   placeholder,
		strings.Repeat("a", 64):     placeholder,
		"a.example:80\" onload=\"x": placeholder,
	} {
		got := page(t, func(r *http.Request) { r.Host = host })
		if !strings.Contains(got, "export WAYPOST="+want+"   #") {
			line, _, _ := strings.Cut(got[strings.Index(got, "export WAYPOST="):], "\n")
			t.Errorf("Host %q: %q, want %s", host, line, want)
		}
	}
}

func TestFirstStepsKnowTLS(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]func(*http.Request){
		"of its own":    func(r *http.Request) { r.TLS = &tls.ConnectionState{} },
		"of its proxy":  func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") },
		"spelt in caps": func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "HTTPS") },
	} {
		if got := page(t, option); !strings.Contains(got, "export WAYPOST=https://example.com ") {
			t.Errorf("TLS %s: the page does not say https", name)
		}
	}
	odd := func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "gopher") }
	if got := page(t, odd); !strings.Contains(got, "export WAYPOST=http://example.com ") {
		t.Error("a scheme that is none of HTTP's was taken over")
	}
}

func TestFirstStepsOfTwoReadersDoNotMeet(t *testing.T) {
	t.Parallel()
	alias := regexp.MustCompile(`hello-[a-z2-7]{6}\b`)
	first, second := alias.FindAllString(page(t), -1), alias.FindAllString(page(t), -1)
	if len(first) == 0 || len(first) != len(second) || first[0] == second[0] {
		t.Fatalf("aliases %v and %v, want different ones, equally often", first, second)
	}
	for _, a := range first {
		if a != first[0] {
			t.Errorf("aliases %v of one page differ", first)
		}
	}
}
