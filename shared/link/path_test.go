package link

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestParsePath(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, path   string
		code, suffix string
		preview      bool
		err          error
	}{
		{name: "plain code", path: "/aZ09", code: "aZ09"},
		{name: "root has no code", path: "/"},
		{name: "trailing slash is never a suffix", path: "/abc/", code: "abc"},
		{name: "two trailing slashes are a suffix", path: "/abc//", code: "abc", suffix: "//"},
		{name: "suffix is raw", path: "/abc/a//b%2F%zz", code: "abc", suffix: "/a//b%2F%zz"},
		{name: "suffix after an encoded code", path: "/%61bc/x", code: "abc", suffix: "/x"},
		{name: "trailing slash after an encoded code", path: "/%61bc/", code: "abc"},
		{name: "preview", path: "/abc+", code: "abc", preview: true},
		{name: "preview of an encoded code", path: "/%61bc+", code: "abc", preview: true},
		{name: "preview with a trailing slash", path: "/abc+/", code: "abc", preview: true},
		{name: "preview of a code with punctuation", path: "/a-b_c.d~+", code: "a-b_c.d~", preview: true},
		{name: "plus in a suffix is no preview", path: "/abc/x+", code: "abc", suffix: "/x+"},
		{name: "needless percent-encoding", path: "/%61bc", code: "abc"},
		{name: "percent-encoded umlaut", path: "/caf%C3%A9", code: "caf\u00e9"},
		{name: "lower-case hex", path: "/caf%c3%a9", code: "caf\u00e9"},
		{name: "raw utf-8", path: "/caf\u00e9", code: "caf\u00e9"},
		{name: "decomposed, percent-encoded", path: "/cafe%CC%81", code: "caf\u00e9"},
		{name: "decomposed, raw", path: "/cafe\u0301", code: "caf\u00e9"},
		{name: "half raw, half encoded", path: "/caf\xc3%A9", code: "caf\u00e9"},
		{name: "encoded dot that does not lead", path: "/a%2Eb", code: "a.b"},
		{name: "64 characters", path: "/" + strings.Repeat("a", 64), code: strings.Repeat("a", 64)},
		{name: "64 characters of four bytes, encoded", path: "/" + strings.Repeat("%F0%A0%80%80", 64), code: strings.Repeat("\U00020000", 64)},

		{name: "preview with a suffix", path: "/abc+/x", err: ErrNotFound},
		{name: "encoded plus is no preview", path: "/abc%2B", err: ErrNotFound},
		{name: "two pluses", path: "/abc++", err: ErrNotFound},
		{name: "plus inside", path: "/a+b", err: ErrNotFound},
		{name: "preview of nothing", path: "/+", err: ErrNotFound},
		{name: "encoded slash", path: "/a%2Fb", err: ErrNotFound},
		{name: "encoded nul", path: "/%00", err: ErrNotFound},
		{name: "encoded line feed", path: "/a%0A", err: ErrNotFound},
		{name: "decoded only once", path: "/%2561bc", err: ErrNotFound},
		{name: "dot dot", path: "/../../etc/passwd", err: ErrNotFound},
		{name: "encoded dot dot", path: "/%2e%2e/x", err: ErrNotFound},
		{name: "leading dot", path: "/.well-known/x", err: ErrNotFound},
		{name: "empty code", path: "//x", err: ErrNotFound},
		{name: "slashes only", path: "//", err: ErrNotFound},
		{name: "65 characters", path: "/" + strings.Repeat("a", 65), err: ErrNotFound},
		{name: "65 encoded characters", path: "/" + strings.Repeat("%C3%B6", 65), err: ErrNotFound},
		{name: "path of 2 KiB", path: "/" + strings.Repeat("\u00f6", 1023), err: ErrNotFound},
		{name: "leading mark", path: "/%CC%81a", err: ErrNotFound},
		{name: "illegal ascii", path: "/a:b", err: ErrNotFound},
		{name: "raw space", path: "/a b", err: ErrNotFound},
		{name: "fragment", path: "/a#b", err: ErrNotFound},
		{name: "backslash", path: `/a\b`, err: ErrNotFound},

		{name: "bad percent", path: "/%zz", err: ErrMalformedPath},
		{name: "percent at the end", path: "/abc%", err: ErrMalformedPath},
		{name: "percent with one digit", path: "/abc%4", err: ErrMalformedPath},
		{name: "percent before a slash", path: "/abc%4/1", err: ErrMalformedPath},
		{name: "encoded invalid utf-8", path: "/%ff", err: ErrMalformedPath},
		{name: "raw invalid utf-8", path: "/\xc3", err: ErrMalformedPath},
		{name: "overlong utf-8", path: "/%C0%AF", err: ErrMalformedPath},
		{name: "raw control byte", path: "/a\x01", err: ErrMalformedPath},
		{name: "raw delete", path: "/a\x7f", err: ErrMalformedPath},
		{name: "no leading slash", path: "abc", err: ErrMalformedPath},
		{name: "empty", path: "", err: ErrMalformedPath},
		{name: "asterisk", path: "*", err: ErrMalformedPath},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			raw := []byte(tt.path)
			p, err := ParsePath(raw, make([]byte, 0, 16))
			if !errors.Is(err, tt.err) || string(p.Code) != tt.code || string(p.Suffix) != tt.suffix || p.Preview != tt.preview {
				t.Errorf("ParsePath(%+q) = %+q, %+q, preview %t, %v, want %+q, %+q, preview %t, %v",
					tt.path, p.Code, p.Suffix, p.Preview, err, tt.code, tt.suffix, tt.preview, tt.err)
			}
			if tt.suffix == "" && p.Suffix != nil {
				t.Errorf("ParsePath(%+q): suffix %+q, want nil", tt.path, p.Suffix)
			}
			if string(raw) != tt.path {
				t.Errorf("ParsePath(%+q) changed its input to %+q", tt.path, raw)
			}
		})
	}
}

func TestParsePathAllocatesNothing(t *testing.T) {
	buf := make([]byte, 0, 1<<10)
	for _, path := range []string{
		"/aZ09xyz",
		"/aZ09xyz+",
		"/aZ09xyz/a/b",
		"/%61bc",
		"/caf%C3%A9",
		"/caf\u00e9",
		"/" + strings.Repeat("%F0%A0%80%80", 64),
		"/%zz",
		"/" + strings.Repeat("a", 65),
	} {
		raw := []byte(path)
		got := testing.AllocsPerRun(100, func() { _, _ = ParsePath(raw, buf) })
		if got != 0 {
			t.Errorf("ParsePath(%+q) allocates %v times, want 0", path, got)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"/", "/abc", "/abc/", "/abc//x", "/abc+", "/a%2Fb", "/%61bc", "/caf%C3%A9", "/cafe\u0301+", "/%zz", "/%ff", "/%00", "/../x", "*", "/\u03b1\u0313\u0300\u0345/s"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, path []byte) {
		before := bytes.Clone(path)
		p, err := ParsePath(path, make([]byte, 0, 64))
		if !bytes.Equal(path, before) {
			t.Fatalf("ParsePath(%+q) changed its input to %+q", before, path)
		}
		if err != nil {
			if !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrMalformedPath) {
				t.Fatalf("ParsePath(%+q): %v, want a sentinel", path, err)
			}
			if p.Code != nil || p.Suffix != nil || p.Preview {
				t.Fatalf("ParsePath(%+q) = %+v with error %v", path, p, err)
			}
			return
		}
		if len(p.Code) == 0 {
			if string(path) != "/" {
				t.Fatalf("ParsePath(%+q) has no code", path)
			}
			return
		}
		if codeFault(p.Code) != "" || !norm.NFC.IsNormal(p.Code) || !utf8.Valid(p.Code) {
			t.Fatalf("ParsePath(%+q): code %+q is no code", path, p.Code)
		}
		if p.Suffix != nil && (p.Preview || len(p.Suffix) < 2 || p.Suffix[0] != '/' || !bytes.HasSuffix(path, p.Suffix)) {
			t.Fatalf("ParsePath(%+q): suffix %+q, preview %t", path, p.Suffix, p.Preview)
		}
		again, err := ParsePath(append([]byte("/"), p.Code...), nil)
		if err != nil || !bytes.Equal(again.Code, p.Code) {
			t.Fatalf("ParsePath(/%+q) = %+q, %v, want the same code", p.Code, again.Code, err)
		}
	})
}

func BenchmarkParsePath(b *testing.B) {
	for _, bb := range []struct{ name, path string }{
		{"plain", "/aZ09xyz"},
		{"encoded", "/caf%C3%A9"},
		{"decomposed", "/cafe\u0301"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			path, buf := []byte(bb.path), make([]byte, 0, 1<<10)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParsePath(path, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
