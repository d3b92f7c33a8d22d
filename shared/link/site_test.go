package link

import (
	"slices"
	"testing"
)

func TestTargetHostIsOneFormOfEveryHost(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]string{
		"https://example.com":                "example.com",
		"HTTPS://Example.COM.:8443/Path?q#f": "example.com",
		"http://xn--MNCHEN-3ya.example/":     "xn--mnchen-3ya.example",
		"http://example.com?x":               "example.com",
		"http://127.0.0.1:80/":               "127.0.0.1",
		"http://2130706433/":                 "127.0.0.1",
		"http://0x7f.1/":                     "127.0.0.1",
		"http://0177.0.0.1./":                "127.0.0.1",
		"http://127.0x0.1/":                  "127.0.0.1",
		"http://0x/":                         "0.0.0.0",
		"http://256.1/":                      "256.1", // no browser finds an address in it
		"http://1.2.3.4.5/":                  "1.2.3.4.5",
		"http://4294967296/":                 "4294967296",
		"http://08.1/":                       "08.1",
		"http://1.example/":                  "1.example",
		"http://[2001:DB8:0:0::1]:80/":       "[2001:db8::1]",
		"http://[::ffff:192.0.2.1]/":         "192.0.2.1",
		"myapp://Open.Here/x":                "open.here",
		"myapp:///x":                         "",
		"mailto:a@example.com":               "",
	} {
		if got := TargetHost(stored); got != want {
			t.Errorf("%s: got %q, want %q", stored, got, want)
		}
	}
}

func TestParseHostTakesNamesAndAddresses(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"example.com": "example.com", "Example.COM.": "example.com", "München.example": "xn--mnchen-3ya.example",
		"_dmarc.example.com": "_dmarc.example.com", "localhost": "localhost",
		"192.0.2.1": "192.0.2.1", "3221225985": "192.0.2.1", "2001:DB8::1": "[2001:db8::1]", "[2001:db8::1]": "[2001:db8::1]",
	} {
		got, err := ParseHost(s)
		if err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", s, got, err, want)
		}
		if again, err := ParseHost(got); err != nil || again != got {
			t.Errorf("%q: its own form is %q, %v", got, again, err)
		}
	}
	for _, s := range []string{
		"", ".", "a..b", "http://a.example", "a.example/x", "a.example:80", "a@b", "a b", "a\nb", "*.a.example", "[::1", "]", "::1]", "[", "[a]", "[fe80::1%25eth0]",
		"\xff.example", "a%2eb",
	} {
		if got, err := ParseHost(s); err == nil {
			t.Errorf("%q: got %q, want it refused", s, got)
		}
	}
}

func TestSitesAreTheHostAndAllAboveIt(t *testing.T) {
	t.Parallel()
	for host, want := range map[string][]Site{
		"a.b.example":   {siteOf("a.b.example"), siteOf("b.example"), siteOf("example")},
		"example":       {siteOf("example")},
		"192.0.2.1":     {siteOf("192.0.2.1")},
		"[2001:db8::1]": {siteOf("[2001:db8::1]")},
	} {
		if got := slices.Collect(Sites(host)); !slices.Equal(got, want) {
			t.Errorf("%s: got %x, want %x", host, got, want)
		}
	}
}

// Whatever is a target has the host that its stored form has, and every host
// that can be blocked is one that a target can have.
func FuzzParseHost(f *testing.F) {
	for _, s := range []string{"example.com", "München.example", "127.1", "0x7f.1", "::1", "[::ffff:1.2.3.4]", "a.", "_x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, err := ParseHost(s)
		if err != nil {
			return
		}
		stored, err := ParseTarget("http://"+host+"/", TargetRules{})
		if err != nil {
			t.Fatalf("%q: no target leads to %q: %v", s, host, err)
		}
		if got := TargetHost(stored); got != host {
			t.Errorf("%q: a target that leads to %q leads to %q", s, host, got)
		}
	})
}
