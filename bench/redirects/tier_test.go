package redirects

import "testing"

func TestTheTierIsReadFromCacheStatus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		want int
	}{
		{"Cache-Status: waypost-eu; hit; detail=l1", FromL1},
		{"Cache-Status: waypost-eu; hit; detail=l2", FromL2},
		{"Cache-Status: waypost-eu; hit; detail=filter", FromFilter},
		{"Cache-Status: waypost-eu; fwd=miss; detail=origin", FromOrigin},
		{"Cache-Status: waypost-eu; hit; ttl=-3; detail=stale", FromNone},
		{"Cache-Status: waypost-eu; fwd=bypass", FromNone},
	} {
		head := "HTTP/1.1 302 Found\r\nLocation: /\r\n" + tt.line + "\r\nContent-Length: 0\r\n"
		if got := TierOf([]byte(head)); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.line, got, tt.want)
		}
	}
}
