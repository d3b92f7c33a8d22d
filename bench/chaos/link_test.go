package chaos

import "testing"

func TestVersionOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		location string
		want     int
	}{
		{target("k", 7), 7},
		{target("k2", 7), alien},
		{"https://example.com/k/0", alien},
		{"https://example.com/k/7x", alien},
		{"https://example.com/k/", alien},
		{"/k/7", alien},
	} {
		if got := versionOf("k", tt.location); got != tt.want {
			t.Errorf("version of %q: got %d, want %d", tt.location, got, tt.want)
		}
	}
}
