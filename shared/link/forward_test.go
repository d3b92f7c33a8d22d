package link

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestAppendLocation(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, target string
		query        Query
		req          string
		suffix       Suffix
		path         string
		want         string
		err          error
	}{
		{name: "query off", target: "https://example.com/q?a=1", req: "b=2", want: "https://example.com/q?a=1"},
		{name: "no request value chooses the destination", target: "https://example.com/fixed", req: "url=https://evil.example", want: "https://example.com/fixed"},
		{name: "an unknown policy forwards nothing", target: "https://example.com/q?a=1#f", query: QueryTarget + 1, req: "b=2", want: "https://example.com/q?a=1#f"},
		{name: "append, no query on target", target: "https://example.com/q", query: QueryAppend, req: "b=2&b=3&c&d=", want: "https://example.com/q?b=2&b=3&c&d="},
		{name: "append keeps raw bytes", target: "https://example.com/q?a=1", query: QueryAppend, req: "x=a+b&y=%C3%A9&z=%20", want: "https://example.com/q?a=1&x=a+b&y=%C3%A9&z=%20"},
		{name: "append keeps duplicates of the target", target: "https://example.com/q?a=1", query: QueryAppend, req: "a=1&a=2", want: "https://example.com/q?a=1&a=1&a=2"},
		{name: "append keeps empty parameters", target: "https://example.com/q?&a=1&&", query: QueryAppend, req: "&b&&=&", want: "https://example.com/q?&a=1&&&&b&&=&"},
		{name: "append goes before the fragment", target: "https://example.com/q#f", query: QueryAppend, req: "b=2", want: "https://example.com/q?b=2#f"},
		{name: "question mark in the fragment is no query", target: "https://example.com/q#f?g", query: QueryAppend, req: "b=2", want: "https://example.com/q?b=2#f?g"},
		{name: "append to a target without path", target: "https://example.com", query: QueryAppend, req: "b=2", want: "https://example.com?b=2"},
		{name: "empty query on the request", target: "https://example.com/q#f", query: QueryAppend, want: "https://example.com/q#f"},
		{name: "empty query on the target adds no ampersand", target: "https://example.com/q?", query: QueryAppend, req: "b=2", want: "https://example.com/q?b=2"},
		{name: "empty query on both", target: "https://example.com/q?", query: QueryTarget, want: "https://example.com/q?"},
		{name: "question marks in the request's query", target: "https://example.com/q", query: QueryAppend, req: "?a=/?", want: "https://example.com/q??a=/?"},

		{name: "request wins", target: "https://example.com/q?utm=t&k=1", query: QueryRequest, req: "utm=r", want: "https://example.com/q?k=1&utm=r"},
		{name: "request wins over every duplicate", target: "https://example.com/q?a=1&b=2&a=3", query: QueryRequest, req: "a=4&a=5", want: "https://example.com/q?b=2&a=4&a=5"},
		{name: "request wins over all", target: "https://example.com/q?a=1&a=2#f", query: QueryRequest, req: "a", want: "https://example.com/q?a#f"},
		{name: "request wins, nothing clashes", target: "https://example.com/q?a=1&&b", query: QueryRequest, req: "c=3", want: "https://example.com/q?a=1&&b&c=3"},
		{name: "request wins, empty target query", target: "https://example.com/q?", query: QueryRequest, req: "a=1", want: "https://example.com/q?a=1"},
		{name: "the rest keep their place", target: "https://example.com/q?x&utm=t&=1&y", query: QueryRequest, req: "n&utm=r&m", want: "https://example.com/q?x&=1&y&n&utm=r&m"},
		{name: "target wins", target: "https://example.com/q?utm=t&k=1", query: QueryTarget, req: "utm=r&z=9", want: "https://example.com/q?utm=t&k=1&z=9"},
		{name: "target wins over all", target: "https://example.com/q?utm=t#f", query: QueryTarget, req: "utm=r&utm", want: "https://example.com/q?utm=t#f"},
		{name: "target wins, empty target query", target: "https://example.com/q?", query: QueryTarget, req: "a=1&a=2", want: "https://example.com/q?a=1&a=2"},
		{name: "target wins, no query on target", target: "https://example.com/q", query: QueryTarget, req: "&a", want: "https://example.com/q?&a"},
		{name: "names are compared decoded", target: "https://example.com/q?a%20b=1&%C3%A9=2&k=3", query: QueryTarget, req: "a+b=x&%c3%a9=y&%6B=z&n", want: "https://example.com/q?a%20b=1&%C3%A9=2&k=3&n"},
		{name: "names are compared decoded, raw bytes too", target: "https://example.com/q?%C3%A9=2", query: QueryRequest, req: "\u00e9=1", want: "https://example.com/q?%C3%A9=1"},
		{name: "names are case-sensitive", target: "https://example.com/q?A=1", query: QueryTarget, req: "a=2", want: "https://example.com/q?A=1&a=2"},
		{name: "a name is not a prefix", target: "https://example.com/q?ab=1&abcd=1", query: QueryTarget, req: "abc=2&a=3", want: "https://example.com/q?ab=1&abcd=1&abc=2&a=3"},
		{name: "values do not clash", target: "https://example.com/q?a=b", query: QueryTarget, req: "b=a&c=b", want: "https://example.com/q?a=b&b=a&c=b"},
		{name: "an encoded ampersand does not part", target: "https://example.com/q?a%26b=1", query: QueryTarget, req: "a=1&b=2&a%26b=3", want: "https://example.com/q?a%26b=1&a=1&b=2"},
		{name: "an encoded equals sign is of the name", target: "https://example.com/q?a%3Db=1", query: QueryTarget, req: "a=1&a%3db=2", want: "https://example.com/q?a%3Db=1&a=1"},
		{name: "semicolons do not part", target: "https://example.com/q?a;b=1", query: QueryTarget, req: "a=1&b=2&a;b=3", want: "https://example.com/q?a;b=1&a=1&b=2"},
		{name: "empty names clash, empty parameters do not", target: "https://example.com/q?=1&", query: QueryTarget, req: "&=2&a", want: "https://example.com/q?=1&&&a"},

		{name: "illegal bytes of the query are encoded", target: "https://example.com/q", query: QueryAppend, req: "a=\"<>\\^`{|}[] #'\u00e9\xff", want: "https://example.com/q?a=%22%3C%3E%5C%5E%60%7B%7C%7D%5B%5D%20%23'%C3%A9%FF"},
		{name: "a percent that encodes nothing is encoded", target: "https://example.com/q", query: QueryAppend, req: "a=100%&b=%zz%4", want: "https://example.com/q?a=100%25&b=%25zz%254"},
		{name: "a percent that encodes nothing is itself in a name", target: "https://example.com/q?%25z=1", query: QueryTarget, req: "%z=2", want: "https://example.com/q?%25z=1"},
		{name: "encoded line feed stays encoded", target: "https://example.com/q", query: QueryAppend, req: "a=%0d%0A", want: "https://example.com/q?a=%0d%0A"},
		{name: "line feed in the query", target: "https://example.com/q", query: QueryAppend, req: "a=\r\nSet-Cookie: x", err: ErrMalformedQuery},
		{name: "nul in the query", target: "https://example.com/q", query: QueryRequest, req: "a\x00", err: ErrMalformedQuery},
		{name: "delete in a parameter that loses", target: "https://example.com/q?a", query: QueryTarget, req: "a=\x7f", err: ErrMalformedQuery},

		{name: "suffix off", target: "https://example.com/s", path: "/more", err: ErrNotFound},
		{name: "suffix append keeps double slash and query", target: "https://example.com/s", query: QueryAppend, req: "z&y=1", suffix: SuffixAppend, path: "/a//b", want: "https://example.com/s/a//b?z&y=1"},
		{name: "suffix before the target's query", target: "https://example.com/s?k=1", suffix: SuffixAppend, path: "/a", want: "https://example.com/s/a?k=1"},
		{name: "suffix before the target's fragment", target: "https://example.com/s#f", suffix: SuffixAppend, path: "/a", want: "https://example.com/s/a#f"},
		{name: "suffix before an empty query", target: "https://example.com/s?", suffix: SuffixAppend, path: "/a", want: "https://example.com/s/a?"},
		{name: "suffix and merged query before the fragment", target: "https://example.com/s/?k=1#f", query: QueryRequest, req: "k=2", suffix: SuffixAppend, path: "/a/", want: "https://example.com/s/a/?k=2#f"},
		{name: "suffix after a target that ends in a slash", target: "https://example.com/base/", suffix: SuffixAppend, path: "/x", want: "https://example.com/base/x"},
		{name: "one slash of two is dropped", target: "https://example.com/base//", suffix: SuffixAppend, path: "//x", want: "https://example.com/base///x"},
		{name: "suffix after a target without path", target: "https://example.com", suffix: SuffixAppend, path: "/a", want: "https://example.com/a"},
		{name: "suffix after a target without path but a query", target: "https://example.com?x", suffix: SuffixAppend, path: "/a", want: "https://example.com/a?x"},
		{name: "suffix after a path that ends like a scheme", target: "https://example.com/a://", suffix: SuffixAppend, path: "/x", want: "https://example.com/a://x"},
		{name: "suffix after the root", target: "https://example.com/", suffix: SuffixAppend, path: "/a", want: "https://example.com/a"},
		{name: "two slashes after the root are no authority", target: "https://example.com/", suffix: SuffixAppend, path: "//evil.example", want: "https://example.com//evil.example"},
		{name: "a slash at the end of the query is not the path's", target: "https://example.com/s?a/", suffix: SuffixAppend, path: "/x", want: "https://example.com/s/x?a/"},
		{name: "no suffix with the policy on", target: "https://example.com/s/", suffix: SuffixAppend, want: "https://example.com/s/"},
		{name: "suffix kept raw", target: "https://example.com", suffix: SuffixAppend, path: "/a%2Fb%00;v=1:@+", want: "https://example.com/a%2Fb%00;v=1:@+"},
		{name: "illegal bytes of the suffix are encoded", target: "https://example.com", suffix: SuffixAppend, path: "/\u00e9 \\?#[]\xff", want: "https://example.com/%C3%A9%20%5C%3F%23%5B%5D%FF"},
		{name: "dots that are no dot segment", target: "https://example.com", suffix: SuffixAppend, path: "/.../..a/a./%2e%2e%2e/.%2Fx", want: "https://example.com/.../..a/a./%2e%2e%2e/.%2Fx"},
		{name: "dot", target: "https://example.com", suffix: SuffixAppend, path: "/.", err: ErrNotFound},
		{name: "dot dot", target: "https://example.com/a", suffix: SuffixAppend, path: "/../x", err: ErrNotFound},
		{name: "dot segment inside", target: "https://example.com/a", suffix: SuffixAppend, path: "/x/./y", err: ErrNotFound},
		{name: "dot segment at the end", target: "https://example.com/a", suffix: SuffixAppend, path: "/x//..", err: ErrNotFound},
		{name: "encoded dot", target: "https://example.com/a", suffix: SuffixAppend, path: "/%2E/x", err: ErrNotFound},
		{name: "encoded dot dot", target: "https://example.com/base/", suffix: SuffixAppend, path: "/%2e%2e/x", err: ErrNotFound},
		{name: "half-encoded dot dot", target: "https://example.com/base/", suffix: SuffixAppend, path: "/.%2E", err: ErrNotFound},
		{name: "half-encoded dot dot the other way", target: "https://example.com/base/", suffix: SuffixAppend, path: "/%2e./", err: ErrNotFound},
		{name: "bad percent in the suffix", target: "https://example.com", suffix: SuffixAppend, path: "/%4", err: ErrMalformedPath},
		{name: "line feed in the suffix", target: "https://example.com", suffix: SuffixAppend, path: "/a\nb", err: ErrMalformedPath},
		{name: "suffix that is none", target: "https://example.com", suffix: SuffixAppend, path: ".evil.example", err: ErrMalformedPath},
		{name: "suffix after an opaque target", target: "mailto:a@example.com", suffix: SuffixAppend, path: "/x", err: ErrNotFound},
		{name: "suffix may not make an authority", target: "myapp:", suffix: SuffixAppend, path: "//evil.example", err: ErrNotFound},
		{name: "suffix after an empty authority", target: "myapp://", suffix: SuffixAppend, path: "/x", want: "myapp:///x"},
		{name: "query after an opaque target", target: "mailto:a@example.com", query: QueryAppend, req: "subject=x", want: "mailto:a@example.com?subject=x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := AppendLocation([]byte("x:"), tt.target, tt.query, []byte(tt.req), tt.suffix, []byte(tt.path))
			if !errors.Is(err, tt.err) || string(got) != "x:"+tt.want {
				t.Errorf("AppendLocation(%q, %v %q, %v %q) = %q, %v, want %q, %v",
					tt.target, tt.query, tt.req, tt.suffix, tt.path, got, err, "x:"+tt.want, tt.err)
			}
		})
	}
}

// Queries of more than a few parameters take another way to the same answer.
func TestAppendLocationOfManyParameters(t *testing.T) {
	t.Parallel()
	for _, n := range []int{fewNames - 1, fewNames, fewNames + 1, 500} {
		var target, req []string
		for i := range n {
			target = append(target, fmt.Sprintf("a+%d=t", i))
			req = append(req, fmt.Sprintf("a%%20%d=r", i*2))
		}
		for _, policy := range []Query{QueryAppend, QueryRequest, QueryTarget} {
			tq, rq := strings.Join(target, "&"), strings.Join(req, "&")
			got, err := AppendLocation(nil, "https://example.com/?"+tq, policy, []byte(rq), SuffixOff, nil)
			want := "https://example.com/?" + plainMerge(tq, policy, rq)
			if err != nil || string(got) != want {
				t.Errorf("%v of %d parameters = %q, %v, want %q", policy, n, got, err, want)
			}
		}
	}
}

// plainMerge is appendQuery by lists of strings, for legal queries.
func plainMerge(target string, policy Query, req string) string {
	split := func(q string) []string {
		if q == "" {
			return nil
		}
		return strings.Split(q, "&")
	}
	name := func(param string) string {
		name, _, _ := strings.Cut(param, "=")
		decoded, err := url.QueryUnescape(name)
		if err != nil {
			return name
		}
		return decoded
	}
	without := func(params, winners []string) (kept []string) {
		taken := map[string]bool{}
		for _, p := range winners {
			taken[name(p)] = taken[name(p)] || p != ""
		}
		for _, p := range params {
			if p == "" || !taken[name(p)] {
				kept = append(kept, p)
			}
		}
		return kept
	}
	t, r := split(target), split(req)
	switch policy {
	case QueryRequest:
		t = without(t, r)
	case QueryTarget:
		r = without(r, t)
	default:
	}
	return strings.Join(append(t, r...), "&")
}

func TestAppendLocationAllocatesNothing(t *testing.T) {
	dst := make([]byte, 0, 1<<10)
	target := "https://example.com/base/?utm=t&k=1#f"
	for _, query := range []Query{QueryOff, QueryAppend, QueryRequest, QueryTarget} {
		for _, suffix := range []string{"", "/a/%C3%A9 b"} {
			req, path := []byte("utm=r&a+b=\u00e9&c"), []byte(suffix)
			got := testing.AllocsPerRun(100, func() {
				if _, err := AppendLocation(dst, target, query, req, SuffixAppend, path); err != nil {
					t.Fatal(err)
				}
			})
			if got != 0 {
				t.Errorf("AppendLocation with query %v and suffix %q allocates %v times, want 0", query, suffix, got)
			}
		}
	}
}

func FuzzAppendLocation(f *testing.F) {
	seeds := []struct{ target, req, path string }{
		{"https://example.com", "b=2", "/a"},
		{"https://example.com/?utm=t&k=1#f", "utm=r&z", "/a//b"},
		{"http://[::1]:80?a%20b", "a+b&%zz&\xff", "//evil.example"},
		{"https://example.com/base/", "a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q&r&s", "/%2e%2e"},
		{"mailto:a@b", "a\r\n", "/x"},
		{"myapp://", "=&&", "/@evil.example"},
	}
	for _, s := range seeds {
		for policy := range uint8(4) {
			f.Add(s.target, policy, []byte(s.req), policy%2 == 0, []byte(s.path))
		}
	}
	f.Fuzz(func(t *testing.T, raw string, policy uint8, req []byte, suffixOn bool, path []byte) {
		target, err := ParseTarget(raw, TargetRules{Schemes: []string{"mailto", "myapp"}})
		if err != nil {
			return
		}
		query, suffix := Query(policy%4), SuffixOff
		if suffixOn {
			suffix = SuffixAppend
		}
		out, err := AppendLocation([]byte("x"), target, query, req, suffix, path)
		if err != nil {
			if !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrMalformedPath) && !errors.Is(err, ErrMalformedQuery) {
				t.Fatalf("AppendLocation(%q): %v, want a sentinel", target, err)
			}
			if string(out) != "x" {
				t.Fatalf("AppendLocation(%q) = %q with error %v", target, out, err)
			}
			return
		}
		got := string(out[1:])
		if !isPrintable(got) || hasBadEscape(out) || strings.Count(got, "#") > 1 {
			t.Fatalf("AppendLocation(%q, %q, %q) = %q", target, req, path, got)
		}
		if origin(got) != origin(target) {
			t.Fatalf("AppendLocation(%q, %q, %q) = %q leads elsewhere", target, req, path, got)
		}
		checkParts(t, target, query, req, path, got)
	})
}

// origin is the scheme and authority of a stored target.
func origin(target string) string {
	scheme, rest, _ := strings.Cut(target, ":")
	authority, _, ok := cutAuthority(rest)
	return fmt.Sprint(scheme, ok, authority)
}

// checkParts checks path, query and fragment of got each by itself.
func checkParts(t *testing.T, target string, query Query, req, path []byte, got string) {
	t.Helper()
	gotHead, gotFragment := cutBefore(got, '#')
	wantHead, wantFragment := cutBefore(target, '#')
	gotPath, gotQuery := cutBefore(gotHead, '?')
	wantPath, wantQuery := cutBefore(wantHead, '?')
	if len(path) > 0 {
		_, rest, _ := strings.Cut(wantPath, ":")
		if _, rest, _ = cutAuthority(rest); strings.HasSuffix(rest, "/") {
			path = path[1:]
		}
		wantPath += string(appendLegal(nil, path, inPath))
	}
	if query != QueryOff && len(req) > 0 {
		legal := string(appendLegal(nil, bytes.Clone(req), inQuery))
		wantQuery = "?" + plainMerge(strings.TrimPrefix(wantQuery, "?"), query, legal)
	}
	if gotPath != wantPath || gotQuery != wantQuery || gotFragment != wantFragment {
		t.Fatalf("AppendLocation(%q, %v %q, %q) = %q, want %q %q %q", target, query, req, path, got, wantPath, wantQuery, wantFragment)
	}
}

func BenchmarkAppendLocation(b *testing.B) {
	dst := make([]byte, 0, 1<<10)
	for _, query := range []Query{QueryOff, QueryAppend, QueryRequest, QueryTarget} {
		b.Run(query.String(), func(b *testing.B) {
			req := []byte("utm=r&a+b=1&c")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := AppendLocation(dst, "https://example.com/base?utm=t&k=1#f", query, req, SuffixOff, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
