package link

import (
	"strings"
	"testing"
)

func TestParseDomain(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a.", 126) + "a"
	tests := []struct {
		name, in, want string
		refused        bool
	}{
		{name: "plain", in: "go.example", want: "go.example"},
		{name: "capitals", in: "Go.Example", want: "go.example"},
		{name: "trailing dot", in: "go.example.", want: "go.example"},
		{name: "unicode", in: "M\u00fcnchen.example", want: "xn--mnchen-3ya.example"},
		{name: "A-label", in: "XN--mnchen-3ya.example", want: "xn--mnchen-3ya.example"},
		{name: "single label", in: "localhost", want: "localhost"},
		{name: "ipv4", in: "127.0.0.1", want: "127.0.0.1"},
		{name: "253 bytes", in: long, want: long},
		{name: "empty", in: "", refused: true},
		{name: "dot", in: ".", refused: true},
		{name: "port", in: "go.example:8080", refused: true},
		{name: "scheme", in: "https://go.example", refused: true},
		{name: "path", in: "go.example/x", refused: true},
		{name: "user", in: "u@go.example", refused: true},
		{name: "ipv6", in: "[::1]", refused: true},
		{name: "space", in: "go .example", refused: true},
		{name: "nul", in: "go\x00.example", refused: true},
		{name: "underscore", in: "a_b.example", refused: true},
		{name: "leading hyphen", in: "-a.example", refused: true},
		{name: "trailing hyphen", in: "a-.example", refused: true},
		{name: "empty label", in: "go..example", refused: true},
		{name: "star", in: "*.example", refused: true},
		{name: "label of 64 bytes", in: strings.Repeat("a", 64) + ".example", refused: true},
		{name: "255 bytes", in: long + ".a", refused: true},
		{name: "invalid A-label", in: "xn--a.example", refused: true},
		{name: "invalid UTF-8", in: "a\xff.example", refused: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseDomain(tt.in)
			if got != tt.want || (err != nil) != tt.refused {
				t.Fatalf("ParseDomain(%+q) = %q, %v, want %q, refused %t", tt.in, got, err, tt.want, tt.refused)
			}
			if tt.refused {
				return
			}
			if host := AppendHost(nil, []byte(strings.ToUpper(got)+".:8080")); string(host) != got {
				t.Errorf("AppendHost of %q in capitals, with dot and port = %q", got, host)
			}
		})
	}
}

func TestAppendHost(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"plain", "go.example", "go.example"},
		{"capitals, trailing dot and port", "Anything.Example.:8080", "anything.example"},
		{"empty port", "go.example:", "go.example"},
		{"one trailing dot only", "go.example..", "go.example."},
		{"ipv6", "[2001:DB8::1]", "[2001:db8::1]"},
		{"ipv6 with port", "[::1]:8080", "[::1]"},
		{"unfinished ipv6", "[::1", ""},
		{"empty", "", ""},
		{"port only", ":8080", ""},
		{"bytes beyond ascii stay", "M\u00dcNCHEN", "m\u00dcnchen"},
		{"only letters change case", "A@[`Z", "a@[`z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := AppendHost([]byte("x"), []byte(tt.in))
			if string(got) != "x"+tt.want {
				t.Errorf("AppendHost(x, %q) = %q, want %q", tt.in, got, "x"+tt.want)
			}
		})
	}
}

func TestAppendHostAllocatesNothing(t *testing.T) {
	dst, host := make([]byte, 0, 256), []byte("Go.Example.:8080")
	if got := testing.AllocsPerRun(100, func() { AppendHost(dst, host) }); got != 0 {
		t.Errorf("AppendHost allocates %v times, want 0", got)
	}
}

func FuzzParseDomain(f *testing.F) {
	for _, s := range []string{"go.example", "Go.Example.", "m\u00fcnchen.example", "xn--a", "a:1", "[::1]", "\u00ad", "\uff0e", "a\u3002b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		domain, err := ParseDomain(s)
		if err != nil {
			if domain != "" || err.Error() == "" {
				t.Fatalf("ParseDomain(%+q) = %q, %q", s, domain, err)
			}
			return
		}
		if again, err := ParseDomain(domain); err != nil || again != domain {
			t.Fatalf("ParseDomain(%q) = %q, %v, want itself", domain, again, err)
		}
		if host := AppendHost(nil, []byte(domain+".:80")); string(host) != domain {
			t.Fatalf("AppendHost(%q) = %q, want the domain", domain+".:80", host)
		}
		// A target on a registered domain is a loop, however the host was spelled.
		if target, err := ParseTarget("https://"+s+"/", TargetRules{OwnHosts: []string{domain}}); err == nil {
			t.Fatalf("ParseTarget of host %+q = %q, want a refusal", s, target)
		}
	})
}
