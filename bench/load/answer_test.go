package load

import (
	"strings"
	"testing"
)

const found = "HTTP/1.1 302 Found\r\nLocation: https://example.com/a\r\nContent-Length: 0\r\n\r\n"

func TestAnAnswerIsReadOnceItIsWhole(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, raw, location string
		status              int
	}{
		{"head alone", found, "https://example.com/a", 302},
		{"names in lower case", "HTTP/1.1 301 \r\nlocation:/b \r\ncontent-length:0\r\n\r\n", "/b", 301},
		{"with a body", "HTTP/1.1 302 Moved\r\nContent-Length: 6\r\nLOCATION: /c\r\n\r\nmoved\n", "/c", 302},
		{"a body that looks like a head's end", "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\n\r\n\r\n", "", 404},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", "", 204},
	} {
		for cut := range tt.raw {
			if _, whole, err := read([]byte(tt.raw[:cut])); whole || err != nil {
				t.Errorf("%s: of its first %d bytes got whole %t, error %v, want more to come", tt.name, cut, whole, err)
			}
		}
		a, whole, err := read([]byte(tt.raw))
		if err != nil || !whole || a.status != tt.status || string(a.location) != tt.location {
			t.Errorf("%s: got %d to %q, whole %t, error %v, want %d to %q", tt.name, a.status, a.location, whole, err, tt.status, tt.location)
		}
	}
}

func TestWhatNoLoadAsksForIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, raw, want string }{
		{"no HTTP", "SSH-2.0\r\n\r\n", "status line"},
		{"HTTP/1.0", strings.Replace(found, "1.1", "1.0", 1), "status line"},
		{"a status of letters", "HTTP/1.1 3O2 Found\r\n\r\n", "no number"},
		{"a line that is none", "HTTP/1.1 302 Found\r\nLocation\r\n\r\n", "colon"},
		{"no length", "HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", "unknown length"},
		{"a length of letters", "HTTP/1.1 302 Found\r\nContent-Length: x\r\n\r\n", "no number"},
		{"chunks", "HTTP/1.1 302 Found\r\nTransfer-Encoding: chunked\r\n\r\n", "chunks"},
		{"the end of the connection", "HTTP/1.1 302 Found\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n", "ends the connection"},
		{"two answers", found + found, "more than one"},
		{"a long head", "HTTP/1.1 302 " + strings.Repeat("x", maxAnswer), "a head of more"},
		{"a long body", "HTTP/1.1 302 Found\r\nContent-Length: 999999999\r\n\r\n", "an answer of"},
	} {
		if _, whole, err := read([]byte(tt.raw)); whole || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got whole %t, error %.100v, want one with %q", tt.name, whole, err, tt.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(found), 9)
	f.Add([]byte("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\n\r\n\r\n"), 45)
	f.Add([]byte("HTTP/1.1 204 No Content\r\n\r\n"), 0)
	f.Fuzz(func(t *testing.T, raw []byte, cut int) {
		a, whole, err := read(raw)
		if err != nil && whole {
			t.Fatalf("whole, and error %v", err)
		}
		if !whole {
			return
		}
		if a.status > 999 || a.length > maxAnswer || len(a.head) > len(raw) {
			t.Fatalf("got %+v", a)
		}
		if cut >= 0 && cut < len(raw) {
			if _, whole, err := read(raw[:cut]); whole || err != nil {
				t.Fatalf("of %d bytes of %d: whole %t, error %v, want more to come", cut, len(raw), whole, err)
			}
		}
	})
}
