package api

import (
	"strings"
	"testing"
)

func TestAcceptEncoding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header       string
		small, large bool // whether such bodies are compressed
	}{
		{"", false, false},
		{"gzip", false, true},
		{"GZIP", false, true},
		{"x-gzip", false, true},
		{"gzip, deflate, br", false, true},
		{"br;q=1.0, gzip;q=0.8, *;q=0.1", false, true},
		{"deflate, br", false, false},
		{"gzip;q=0", false, false},
		{"gzip;q=0.000", false, false},
		{"gzip;q=0.001", false, true},
		{"gzip ; q=0.5", false, true},
		{"gzip;Q=0.5", false, true},
		{"\tgzip\t", false, true},
		{",,gzip,", false, true},
		{"identity", false, false},
		{"identity, gzip", false, true},
		{"identity;q=1, gzip;q=0.5", false, false},
		{"identity;q=0.5, gzip;q=1.0", false, true},
		{"*", false, true},
		{"*;q=0", false, false},
		{"*;q=0, gzip", true, true},
		{"*;q=1, gzip;q=0.5", false, false},
		{"*;q=0.5, gzip;q=1", false, true},
		{"*, gzip;q=0", false, false},
		{"identity;q=0", false, false},
		{"identity;q=0, gzip", true, true},
		{"identity;q=0, *", true, true},
		{"identity;q=0, br", false, false},
		{"gzip;q=2", false, false},
		{"gzip;q=1.001", false, false},
		{"gzip;q=0.1234", false, false},
		{"gzip;q=-1", false, false},
		{"gzip;q=.5", false, false},
		{"gzip;q=1.", false, true},
		{"gzip;q=", false, false},
		{"gzip;x=1", false, false},
		{"gzip;q=x, gzip;q=1", false, true},
		{"gzipp", false, false},
	} {
		got := parseCodings([]string{c.header})
		if small, large := got.gzipFor(10), got.gzipFor(minGzip); small != c.small || large != c.large {
			t.Errorf("%q: small %v, large %v, want %v, %v", c.header, small, large, c.small, c.large)
		}
	}
	if got := parseCodings(nil); got.gzipFor(1 << 20) {
		t.Error("without the header: compressed, want plain")
	}
	if got := parseCodings([]string{"identity;q=0.5", "gzip"}); !got.gzipFor(minGzip) {
		t.Error("a list in two lines: plain, want what the list says")
	}
}

// FuzzAcceptEncoding: weights are weights, nothing is liked that was not named,
// and neither case nor blanks nor an item that is malformed matter.
func FuzzAcceptEncoding(f *testing.F) {
	for _, seed := range []string{"gzip", "gzip;q=0.5, *;q=0", "identity;q=0, gzip;q=1.000", "br, , x-gzip ;q=0.1", "gzip;q=;;,*", "\x00;q=1", strings.Repeat("gzip,", 1000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		got := parseCodings([]string{header})
		if got.gzip < 0 || got.gzip > 1000 || got.plain < 0 || got.plain > 1000 {
			t.Fatalf("%q: %+v, want thousandths", header, got)
		}
		lower := strings.ToLower(header)
		if got.gzip > 0 && !strings.Contains(lower, "gzip") && !strings.Contains(header, "*") {
			t.Errorf("%q: gzip %d of 1000, but nobody named it", header, got.gzip)
		}
		if got.plain == 0 && !strings.Contains(lower, "identity") && !strings.Contains(header, "*") {
			t.Errorf("%q: plain is refused, but nobody named it", header)
		}
		for _, same := range []string{
			strings.ToUpper(lower), strings.ReplaceAll(header, ",", " ,\t"), header + ", gzip;q=5", "identity;q=no," + header,
		} {
			if lower == strings.ToLower(strings.ToUpper(lower)) && parseCodings([]string{same}) != got {
				t.Errorf("%q: %+v, but %q: %+v", header, got, same, parseCodings([]string{same}))
			}
		}
	})
}
