package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"waypost/shared/settings"
)

func TestPublicHostIsComparedAsTargetsAre(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://Go.Example./": "go.example", "https://go.example:8443": "go.example", "https://münchen.example": "xn--mnchen-3ya.example",
		"http://127.0.0.1:8080": "127.0.0.1:8080", "http://127.0.0.1": "127.0.0.1:80", "https://[::1]": "[::1]:443", "http://LOCALHOST:8080": "localhost:8080",
		"http://127.1:8080": "127.0.0.1:8080", "http://[0:0::1]:8080": "[::1]:8080", "http://[::ffff:127.0.0.1]": "127.0.0.1:80",
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

func TestURLsThatCarryPasswordsAreSecrets(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"WAYPOST_REDIS_URL": "redis://:s3cret@host:port",
		"WAYPOST_NATS_URL":  "nats://127.0.0.1:4222, nats://u:s3cret@host:port",
	} {
		var cfg config
		env := map[string]string{"WAYPOST_DATABASE_URL": "postgres://db.example/d", name: bad}
		_, err := settings.Load(&cfg, nil, func(asked string) string { return env[asked] })
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, want a fault that names it and tells no password", name, err)
		}
	}
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte("nats://u:s3cret@one:4222,nats://u:s3cret@two:4222\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var cfg config
	env := map[string]string{"WAYPOST_DATABASE_URL": "postgres://db.example/d", "WAYPOST_NATS_URL_FILE": file}
	if _, err := settings.Load(&cfg, nil, func(asked string) string { return env[asked] }); err != nil || len(cfg.NATSURL) != 2 {
		t.Errorf("NATS servers of a file: %q, %v, want two", cfg.NATSURL, err)
	}
}

func TestOriginsOfPagesAreCheckedAtStart(t *testing.T) {
	t.Parallel()
	for value, faulty := range map[string]bool{
		"": false, "*": false, "https://app.example.com": false, "https://app.example.com, http://localhost:3000": false,
		"*, https://app.example.com": true, "https://app.example.com/": true, "app.example.com": true, "null": true, "https://*.example.com": true,
		"https://app.example.com,": true,
	} {
		var cfg config
		env := map[string]string{"WAYPOST_DATABASE_URL": "postgres://db.example/d", "WAYPOST_CORS_ORIGINS": value}
		_, err := settings.Load(&cfg, nil, func(asked string) string { return env[asked] })
		if (err != nil) != faulty || faulty && !strings.Contains(err.Error(), "WAYPOST_CORS_ORIGINS") {
			t.Errorf("%q: %v, want a fault: %v", value, err, faulty)
		}
	}
}
