package api

import (
	"net/url"
	"strings"
	"testing"
)

func TestOriginsAreThoseThatBrowsersSend(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{
		"https://app.example.com", "http://localhost:3000", "https://example.com:8443", "http://127.0.0.1:8080", "http://[::1]:3000",
		"https://xn--bcher-kva.example", "https://a_b.example", "http://localhost",
	} {
		if err := CheckOrigin(origin); err != nil {
			t.Errorf("%q: %v, want it accepted", origin, err)
		}
	}
	for _, origin := range []string{
		"", "*", "null", "example.com", "//example.com", "https://", "https:///", "https://example.com/", "https://example.com/a",
		"https://example.com?", "https://example.com?a", "https://example.com#a", "https://user@example.com", "https://u:p@example.com",
		"HTTPS://example.com", "https://Example.com", "https://example.com:443", "http://example.com:80", "https://example.com:",
		"https://*.example.com", "https://bücher.example", "ftp://example.com", "file://", "https://a b", "https://[::1", "https://[x]",
		"https://example.com,https://example.org", "https://example.com ", "https://exa%6dple.com", "https://example.com\n",
		"https://example.com:http", "data:,x", "chrome-extension://abc",
	} {
		if CheckOrigin(origin) == nil {
			t.Errorf("%q is accepted", origin)
		}
	}
}

func FuzzCheckOrigin(f *testing.F) {
	for _, seed := range []string{"https://app.example.com", "http://[::1]:3000", "https://a/", "https://a:443", "http://a\x00", "https://a_b:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, origin string) {
		if CheckOrigin(origin) != nil {
			return
		}
		u, err := url.Parse(origin)
		if err != nil || u.Scheme+"://"+u.Host != origin || u.Scheme != "http" && u.Scheme != "https" {
			t.Errorf("%q is accepted, but is no scheme and host", origin)
		}
		if origin != strings.ToLower(origin) || strings.ContainsAny(origin, "* ,\t\r\n\x00@") {
			t.Errorf("%q is accepted, but no browser sends it", origin)
		}
	})
}
