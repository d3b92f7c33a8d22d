package httpd

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"waypost/edge/internal/visitor"
	"waypost/shared/feed"
)

func TestAPlainHeadIsTakenApart(t *testing.T) {
	t.Parallel()
	const behind = "GET /next"
	const text = "GET /abc?x=y HTTP/1.1\r\nHost: Go.Example:8080\r\nUSER-AGENT:  a b \r\nReferer: https://news.example/\r\n" +
		"referer: second\r\nAccept-Language: de\r\nSec-Purpose: prefetch\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 192.0.2.2\r\n" +
		"CF-IPCountry: DE\r\nCf-Ipcountry: FR\r\nconnection: Keep-Alive\r\nX-Empty:\r\n\r\n"
	var h head
	if !h.parse([]byte(text+behind), "CF-IPCountry") {
		t.Fatal("it is not plain")
	}
	want := visitor.Request{
		Agent: []byte("a b"), Referrer: []byte("https://news.example/"), Language: []byte("de"), Purpose: []byte("prefetch"), Country: []byte("DE"),
	}
	got := h.visitor
	for _, pair := range [][2][]byte{
		{h.target, []byte("/abc?x=y")},
		{h.host, []byte("Go.Example:8080")},
		{got.Agent, want.Agent},
		{got.Referrer, want.Referrer},
		{got.Language, want.Language},
		{got.Purpose, want.Purpose},
		{got.Country, want.Country},
		{bytes.Join(h.lines[:h.forwarded], []byte("|")), []byte("192.0.2.1|192.0.2.2")},
	} {
		if !bytes.Equal(pair[0], pair[1]) {
			t.Errorf("got %q, want %q", pair[0], pair[1])
		}
	}
	if h.size != len(text) {
		t.Errorf("got a size of %d, want %d", h.size, len(text))
	}
	for n := range len(text) {
		if h.parse([]byte(text[:n]), "") {
			t.Fatalf("its first %d bytes are a plain head", n)
		}
	}
}

// FuzzAPlainHeadIsReadAsFasthttpReadsIt: one that is answered without fasthttp is
// one that fasthttp would take for the same request, with nothing behind it.
func FuzzAPlainHeadIsReadAsFasthttpReadsIt(f *testing.F) {
	for _, text := range []string{
		"GET /abc HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /abc?d HTTP/1.1\r\nhost:x:80\r\nUser-Agent: a\r\nReferer: b\r\nPurpose: \r\nX-Moz: p\r\nCookie: \xff\t\r\n\r\nGET /",
		"GET /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
		"GET /a HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
		"GET /a HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n",
		"GET /a HTTP/1.1\r\nHost: x\nA: b\r\n\r\n",
		"GET /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTrailer: a\r\nConnection: close\r\n\r\n",
		"GET /a\x7f HTTP/1.1\r\nHost: x_y.z\r\nA b: c\r\n\r\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var h head
		if !h.parse(text, "X-Country") {
			return
		}
		buffered := bufio.NewReaderSize(bytes.NewReader(text), len(text)+1<<10)
		var req fasthttp.Request
		if err := req.Header.Read(buffered); err != nil {
			t.Fatalf("fasthttp: %v", err)
		}
		header := &req.Header
		if len(text)-buffered.Buffered() != h.size {
			t.Fatalf("fasthttp read %d bytes, want %d", len(text)-buffered.Buffered(), h.size)
		}
		if n := header.ContentLength(); n > 0 || n == -1 || header.ConnectionClose() || req.MayContinue() || !header.IsHTTP11() || !header.IsGet() {
			t.Errorf("content length %d, close %v, expects %v", n, header.ConnectionClose(), req.MayContinue())
		}
		if err := req.URI().Parse(nil, header.RequestURI()); err != nil {
			t.Errorf("fasthttp cannot parse %q: %v", header.RequestURI(), err)
		}
		host, path, query := target(header)
		if whole := strings.TrimSuffix(string(path)+"?"+string(query), "?"); string(host) != string(h.host) || whole != strings.TrimSuffix(string(h.target), "?") {
			t.Errorf("got %q %q, fasthttp's are %q %q", h.host, h.target, host, whole)
		}
		var from visitor.Request
		(&handler{Config: Config{CountryHeader: "X-Country"}}).listenTo(header, &from)
		got := h.visitor
		for name, pair := range map[string][2][]byte{
			"agent": {got.Agent, from.Agent}, "referrer": {got.Referrer, from.Referrer}, "language": {got.Language, from.Language},
			"purpose": {got.Purpose, from.Purpose}, "country": {got.Country, from.Country},
			"forwarded": {bytes.Join(h.lines[:h.forwarded], []byte("|")), bytes.Join(header.PeekAll(fasthttp.HeaderXForwardedFor), []byte("|"))},
		} {
			if !bytes.Equal(pair[0], pair[1]) {
				t.Errorf("%s: got %q, fasthttp's is %q", name, pair[0], pair[1])
			}
		}
	})
}

func TestEveryControlByteIsCounted(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		want := 0
		if c < 0x20 || c == 0x7f {
			want = 1
		}
		for _, filler := range []byte{'a', 0x20, 0x7e, 0x80, 0xff} {
			for length := 1; length < 20; length++ {
				for at := range length {
					b := bytes.Repeat([]byte{filler}, length)
					b[at] = byte(c)
					if got := controls(b); got != want {
						t.Fatalf("%q: got %d, want %d", b, got, want)
					}
				}
			}
		}
	}
	if got := controls(bytes.Repeat([]byte{0, 0x7f, 0x1f, '\n'}, 5)); got != 20 {
		t.Errorf("got %d, want 20", got)
	}
}

func TestTheDateIsOfThisSecond(t *testing.T) {
	t.Parallel()
	var d dates
	first := d.at(100)
	if at, err := time.Parse(http1Date, first); err != nil || time.Since(at) > 5*time.Second || time.Since(at) < 0 {
		t.Errorf("got %q, %v", first, err)
	}
	until := d.held.Load().until
	if until <= 100 || until > 100+feed.Instant(time.Second) {
		t.Errorf("held until %d", until)
	}
	d.held.Store(&date{until: 500, text: "held"})
	if got := d.at(499); got != "held" {
		t.Errorf("got %q before its end", got)
	}
	if got := d.at(500); got == "held" {
		t.Error("held beyond its end")
	}
}
