package main

import (
	"net/url"
	"testing"
)

func TestPublicHostIsComparedAsTargetsAre(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://Go.Example./": "go.example", "https://go.example:8443": "go.example", "https://münchen.example": "xn--mnchen-3ya.example",
		"http://127.0.0.1:8080": "127.0.0.1:8080", "http://127.0.0.1": "127.0.0.1:80", "https://[::1]": "[::1]:443", "http://LOCALHOST:8080": "localhost:8080",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := publicHost(u); got != want {
			t.Errorf("%s: got %q, want %q", raw, got, want)
		}
	}
}
