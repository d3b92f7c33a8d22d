package link

import (
	"strings"
	"testing"
)

var ownRules = TargetRules{
	Schemes:  []string{"mailto", "MyApp"},
	OwnHosts: []string{"go.example", "xn--mnchen-3ya.example", "[2001:db8::1]"},
}

func TestParseTargetKeepsAsGiven(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, target string }{
		{"plain", "https://example.com/a"},
		{"plus and percent and valueless", "https://example.com/a?q=a+b%20c&k"},
		{"fragment", "https://example.com/a?b=1#frag"},
		{"fragment without query", "https://example.com#f"},
		{"question mark in the fragment", "https://example.com/a#b?c/d"},
		{"question mark in the query", "https://example.com/a?b?c/d"},
		{"empty query", "https://example.com/a?"},
		{"empty fragment", "https://example.com/a#"},
		{"query without path", "https://example.com?a=1"},
		{"encoded slash", "https://example.com/a%2Fb"},
		{"double slash in path", "https://example.com/a//b"},
		{"dot segments kept", "https://example.com/a/../b/./c"},
		{"numeric and duplicate parameter names", "https://example.com/?1=2&1=3&1="},
		{"comma semicolon colon", "https://example.com/a;v=1,2:3?x=a;b"},
		{"all sub-delimiters", "https://example.com/!$&'()*+,;=:@-._~?!$&'()*+,;=:@-._~/"},
		{"pipe and brackets as percent", "https://example.com/a%7Cb%5B%5D"},
		{"lower-case percent hex kept", "https://example.com/%c3%a9"},
		{"escapes of control bytes kept", "https://example.com/%00%0d%0A%7F"},
		{"escapes that are not UTF-8 kept", "https://example.com/%ff"},
		{"port and no path", "https://example.com:8443"},
		{"greatest port", "https://example.com:65535/"},
		{"empty port", "https://example.com:/x"},
		{"port with leading zeros", "https://example.com:000080/"},
		{"ipv4 host", "http://192.0.2.7/x"},
		{"ipv6 host", "http://[2001:DB8::7]:8080/x"},
		{"ipv6 loopback", "http://[::1]"},
		{"host kept as given", "https://EXAMPLE.com/x"},
		{"scheme kept as given", "HTTPS://example.com/x"},
		{"trailing dot kept", "https://example.com./x"},
		{"underscore in the host", "https://a_b.example.com/"},
		{"hyphens in the host", "https://r3---sn-a.example.com/"},
		{"A-label", "https://xn--bcher-kva.example/"},
		{"single label", "http://localhost/"},
		{"at sign in path and query", "https://example.com/@a?b=@c"},
		{"upper-case path and query", "https://example.com/ABC?Def=GHI"},
		{"another URL in path and query", "https://example.com/https://b.example/?u=https://u:p@c.example/"},
		{"allow-listed scheme without authority", "mailto:a@example.com?subject=x%20y"},
		{"allow-listed scheme in any case", "myapp://open/x?y#z"},
		{"allow-listed scheme without host", "myapp:///x"},
		{"allow-listed scheme with ipv6", "myapp://[::1]:1/x"},
		{"own domain in the query", "https://example.com/?u=https://go.example/"},
		{"own domain as a part of another", "https://www.go.example/"},
		{"greatest target", "https://example.com/" + strings.Repeat("x", MaxTarget-20)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseTarget(tt.target, ownRules)
			if err != nil || got != tt.target {
				t.Errorf("ParseTarget(%q) = %q, %v, want it as given", tt.target, got, err)
			}
		})
	}
}

func TestParseTargetEncodesOnce(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"unicode path and query", "https://example.com/\u00e9?q=\u00fc", "https://example.com/%C3%A9?q=%C3%BC"},
		{"unicode fragment", "https://example.com/#\u00e9", "https://example.com/#%C3%A9"},
		{"space", "https://example.com/a b", "https://example.com/a%20b"},
		{"space at the end", "https://example.com/a ", "https://example.com/a%20"},
		{
			"bytes outside RFC 3986", "https://example.com/\"<>\\^`{|}?\"<>\\^`{|}#\"<>\\^`{|}",
			"https://example.com/%22%3C%3E%5C%5E%60%7B%7C%7D?%22%3C%3E%5C%5E%60%7B%7C%7D#%22%3C%3E%5C%5E%60%7B%7C%7D",
		},
		{"apostrophe stays", "https://example.com/?y='x'", "https://example.com/?y='x'"},
		{"brackets outside the host", "https://example.com/a[0]?b[]=1#c[]", "https://example.com/a%5B0%5D?b%5B%5D=1#c%5B%5D"},
		{"brackets beside an ipv6 host", "https://[::1]/[::1]", "https://[::1]/%5B::1%5D"},
		{"second hash", "https://example.com/#a#b#", "https://example.com/#a%23b%23"},
		{"existing escapes beside new ones", "https://example.com/%e9 %20", "https://example.com/%e9%20%20"},
		{"four-byte character", "https://example.com/\U0001f600", "https://example.com/%F0%9F%98%80"},
		{"unicode host", "https://m\u00fcnchen.test/x", "https://xn--mnchen-3ya.test/x"},
		{"unicode host in capitals", "https://M\u00dcNCHEN.Test:8443", "https://xn--mnchen-3ya.test:8443"},
		{"decomposed unicode host", "https://mu\u0308nchen.test/x", "https://xn--mnchen-3ya.test/x"},
		{"sharp s is not transitional", "https://fa\u00df.example/", "https://xn--fa-hia.example/"},
		{"ideographic full stop", "https://example\u3002com/", "https://example.com/"},
		{"full-width host", "https://\uff45\uff58\uff41mple.com/", "https://example.com/"},
		{"soft hyphen in the host", "https://exam\u00adple.com/", "https://example.com/"},
		{"unicode host with an underscore", "https://a_b.\u00fc.example/", "https://a_b.xn--tda.example/"},
		{"unicode host with a trailing dot", "https://\u00fc.example./", "https://xn--tda.example./"},
		{"allow-listed scheme", "mailto:\u00e9 x@example.com", "mailto:%C3%A9%20x@example.com"},
		{"allow-listed scheme with authority", "myapp://\u00e9[]/[", "myapp://%C3%A9%5B%5D/%5B"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseTarget(tt.in, ownRules)
			if err != nil || got != tt.want {
				t.Errorf("ParseTarget(%+q) = %q, %v, want %q", tt.in, got, err, tt.want)
			}
			if again, err := ParseTarget(got, ownRules); err != nil || again != got {
				t.Errorf("ParseTarget(%q) = %q, %v, want itself", got, again, err)
			}
		})
	}
}

func TestParseTargetRefuses(t *testing.T) {
	t.Parallel()
	const (
		absolute  = "must be an absolute URL"
		scheme    = "has a scheme that is not allowed"
		noHost    = "has no host"
		control   = "must not have control characters"
		user      = "must not have a user or password"
		backslash = "must not have a backslash before its path"
		character = "has a host name with a character that may not stand in one"
		loop      = "must not lead back to this service"
	)
	tests := []struct{ name, in, reason string }{
		{"empty", "", "must not be empty"},
		{"javascript", "javascript:alert(1)", scheme},
		{"javascript with a host", "javascript://example.com/%0Aalert(1)", scheme},
		{"data", "data:text/html,x", scheme},
		{"ftp", "ftp://example.com/", scheme},
		{"scheme that folds to http only beyond ascii", "http\u017f://example.com/", absolute},
		{"no scheme", "example.com/x", absolute},
		{"no scheme but a port", "example.com:80/x", scheme},
		{"scheme-relative", "//example.com/x", absolute},
		{"empty scheme", "://example.com/x", absolute},
		{"scheme that starts with a digit", "1http://example.com/", absolute},
		{"leading space", " https://example.com/", absolute},
		{"leading byte order mark", "\ufeffhttps://example.com/", absolute},
		{"no host", "https:///x", noHost},
		{"one slash", "https:/x", noHost},
		{"no slashes", "https:x", noHost},
		{"nothing", "https:", noHost},
		{"slashes only", "https://", noHost},
		{"port only", "https://:80/x", noHost},
		{"query only", "https://?x", noHost},
		{"dot only", "https://./", noHost},
		{"host that maps to nothing", "https://\u00ad/", noHost},
		{"backslashes for slashes", `https:\\example.com/`, noHost},
		{"crlf", "https://example.com/a\r\nSet-Cookie: x=1", control},
		{"tab", "https://exam\tple.com/", control},
		{"nul", "https://example.com/a\x00b", control},
		{"delete", "https://example.com/\x7f", control},
		{"line feed at the end", "https://example.com/\n", control},
		{"tab before the scheme", "\thttps://example.com/", control},
		{"C1 control", "https://example.com/\u0085", control},
		{"line separator", "https://example.com/\u2028", control},
		{"control in an allow-listed scheme", "mailto:a@example.com\r\nx", control},
		{"invalid utf-8", "https://example.com/\xff", "is not valid UTF-8"},
		{"user and password", "https://u:p@example.com/", user},
		{"user only", "https://u@example.com/", user},
		{"empty user", "https://@example.com/", user},
		{"backslash before at", `https://good.example\@evil.example/`, user},
		{"backslash in the authority", `https://good.example\.evil.example/`, backslash},
		{"backslash first", `https://\example.com/`, backslash},
		{"port out of range", "https://example.com:99999/", "has a port above 65535"},
		{"port just out of range", "https://example.com:65536/", "has a port above 65535"},
		{"port beyond any integer", "https://example.com:99999999999999999999999/", "has a port above 65535"},
		{"port that is no number", "https://example.com:8o/", "has a port that is not a number"},
		{"negative port", "https://example.com:-1/", "has a port that is not a number"},
		{"two ports", "https://example.com:80:80/", character},
		{"bad percent", "https://example.com/a%4", badEscape},
		{"bad percent in the query", "https://example.com/?a=100%", badEscape},
		{"bad percent in the fragment", "https://example.com/#%zz", badEscape},
		{"percent-encoded host", "https://ex%61mple.com/", character},
		{"space in the host", "https://exa mple.com/", character},
		{"space after the host", "https://example.com ", character},
		{"angle bracket in the host", "https://exa<mple.com/", character},
		{"star in the host", "https://*.example.com/", character},
		{"bracket in the host", "https://exa[mple.com/", character},
		{"empty label", "https://example..com/", "has a host name with an empty label"},
		{"leading dot in the host", "https://.example.com/", "has a host name with an empty label"},
		{"two trailing dots", "https://example.com../", "has a host name with an empty label"},
		{"label of 64 bytes", "https://" + strings.Repeat("a", 64) + ".example/", "has a host name with a label of more than 63 bytes"},
		{"host of 254 bytes", "https://" + strings.Repeat("a.", 126) + "ab/", hostTooLong},
		{"endless unicode host", "https://" + strings.Repeat("\u00fc", 1000) + "/", hostTooLong},
		{"ipv6 that does not parse", "https://[::g]/", "has a host that is not an IPv6 address"},
		{"ipv6 that does not end", "https://[::1/", "has a host that is not an IPv6 address"},
		{"ipv6 with something behind", "https://[::1]x/", "has a host that is not an IPv6 address"},
		{"ipv6 with a zone", "https://[fe80::1%25eth0]/", "has a host that is not an IPv6 address"},
		{"ipv4 in brackets", "https://[127.0.0.1]/", "has a host that is not an IPv6 address"},
		{"ipv6 without brackets", "https://2001:db8::1/", character},
		{"host that maps to a slash", "https://\u2100.example/", character},
		{"host that maps to an at sign", "https://good.example\uff20evil.example/", character},
		{"disallowed rune in the host", "https://a\u2028b.example/", control},
		{"emoji variation of nothing", "https://\u0300.example/", "has a host name that UTS 46 refuses"},
		{"mixed directions in the host", "https://\u05d0a.example/", "has a host name that UTS 46 refuses"},
		{"invalid A-label beside a unicode label", "https://xn--a.\u00fc.example/", "has a host name that UTS 46 refuses"},
		{"own domain", "https://go.example/x", loop},
		{"own domain in capitals", "https://GO.Example/x", loop},
		{"own domain with a port", "http://go.example:8080", loop},
		{"own domain with a trailing dot", "https://go.example./x", loop},
		{"own domain in full width", "https://\uff47\uff4f.example/", loop},
		{"own domain in unicode", "https://m\u00fcnchen.example/", loop},
		{"own domain as an A-label in capitals", "https://XN--MNCHEN-3YA.example/", loop},
		{"own address", "https://[2001:DB8::1]:8080/", loop},
		{"nothing after an allow-listed scheme", "mailto:", "has nothing after its scheme"},
		{"user in an allow-listed scheme", "myapp://u@x/", "must not have a user, password or backslash before its path"},
		{"backslash in an allow-listed scheme", `myapp://x\y/`, "must not have a user, password or backslash before its path"},
		{"bad percent in an allow-listed authority", "myapp://%zz/", badEscape},
		{"bad address in an allow-listed scheme", "myapp://[x]/", "has a host that is not an IPv6 address"},
		{"too long", "https://example.com/" + strings.Repeat("x", MaxTarget-19), "must have at most 8192 bytes"},
		{"too long once encoded", "https://example.com/" + strings.Repeat(" ", 3000), "must have at most 8192 bytes once percent-encoded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseTarget(tt.in, ownRules)
			if err == nil || err.Error() != tt.reason || got != "" {
				t.Errorf("ParseTarget(%+q) = %q, %v, want %q", tt.in, got, err, tt.reason)
			}
		})
	}
}

func TestParseTargetWithoutRulesAllowsOnlyHTTP(t *testing.T) {
	t.Parallel()
	if got, err := ParseTarget("mailto:a@example.com", TargetRules{}); err == nil {
		t.Errorf("ParseTarget = %q, want a refusal", got)
	}
	if _, err := ParseTarget("https://go.example/x", TargetRules{}); err != nil {
		t.Errorf("ParseTarget: %v", err)
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{
		"https://example.com/a?b=1#c", "https://m\u00fcnchen.example/\u00e9 [x]#a#b", "http://[::1]:80/%41", `https://a\@b/`,
		"mailto:a@b c", "myapp://\u00e9[]/x", "myapp://[::1]/", "https://\u2100/", "https:///x", "https://a:1:2/", "HTTPS://A.:0?%zz", "https://\uff45.\u3002/",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		stored, err := ParseTarget(raw, ownRules)
		if err != nil {
			if stored != "" || err.Error() == "" {
				t.Fatalf("ParseTarget(%+q) = %q, %q", raw, stored, err)
			}
			return
		}
		if len(stored) > MaxTarget || !isPrintable(stored) {
			t.Fatalf("ParseTarget(%+q) = %+q: %d bytes", raw, stored, len(stored))
		}
		if again, err := ParseTarget(stored, ownRules); err != nil || again != stored {
			t.Fatalf("ParseTarget(%q) = %q, %v, want itself", stored, again, err)
		}
		if out, err := AppendLocation(nil, stored, QueryOff, []byte("a=b"), SuffixOff, nil); err != nil || string(out) != stored {
			t.Fatalf("AppendLocation(%q) = %q, %v, want it byte for byte", stored, out, err)
		}
	})
}

// isPrintable reports whether s is printable ASCII without space.
func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

func TestParseTargetRefusesAnOwnHostOnItsPortOnly(t *testing.T) {
	t.Parallel()
	rules := TargetRules{OwnHosts: []string{"127.0.0.1:8080", "[::1]:80", "localhost:443"}}
	for target, loop := range map[string]bool{
		"http://127.0.0.1:8080/x": true, "https://127.0.0.1:08080": true, "http://127.0.0.1:9000/x": false, "http://127.0.0.1/": false,
		"http://[::1]/x": true, "http://[::1]:80": true, "http://[::1]:/": true, "https://[::1]/": false,
		"https://LOCALHOST./": true, "http://localhost/": false,
		"http://127.1:8080/x": true, "http://2130706433:8080/": true, "http://0x7f.0.0.01.:8080/": true, "http://[::ffff:127.0.0.1]:8080/": true,
		"http://１２７.1:8080/": true, "http://[0:0::1]/x": true, "http://127.2:8080/": false,
	} {
		if _, err := ParseTarget(target, rules); (err != nil) != loop {
			t.Errorf("%s: got error %v, want one: %v", target, err, loop)
		}
	}
}
