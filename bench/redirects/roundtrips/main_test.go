package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"waypost/deploy/services"
)

// TestMain lets fasthttp's client look after idle connections for as long as it does, which nobody can end.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(services.Main(m),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*Client).mCleaner"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*TCPDialer).tcpAddrsClean"))
}

func TestEveryAnswerIsALineOfNanoseconds(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusNotFound
		if r.URL.Path == "/there" {
			status = http.StatusFound
		}
		w.WriteHeader(status)
	}))
	defer site.Close()
	store := services.Redis(t)
	client := redis.NewClient(&redis.Options{Addr: store.Addr()})
	defer client.Close() //nolint:errcheck // all is written
	if err := client.Set(t.Context(), "there", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	for kind, url := range map[string]string{"http": site.URL, "redis": store.URL()} {
		args := []string{"-kind", kind, "-url", url, "-rate", "1000", "-lasting", "20ms", "-workers", "2"}
		var out strings.Builder
		if err := run(t.Context(), args, strings.NewReader("there\n"), &out); err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		lines := strings.Fields(out.String())
		if len(lines) != 20 {
			t.Errorf("%s: got %d lines, want 20", kind, len(lines))
		}
		for _, line := range lines {
			if ns, err := strconv.Atoi(line); err != nil || ns <= 0 {
				t.Errorf("%s: got the line %q, want nanoseconds", kind, line)
			}
		}
		if err := run(t.Context(), args, strings.NewReader("there\nmissing\n"), &out); err == nil || !strings.Contains(err.Error(), "missing") {
			t.Errorf("%s: got error %v, want one about what is missing", kind, err)
		}
	}
}

func TestWhatCannotBeAskedIsAnError(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args  []string
		names string
	}{
		"no kind":    {[]string{"-url", "http://127.0.0.1"}, "a"},
		"no names":   {[]string{"-kind", "http"}, ""},
		"no rate":    {[]string{"-kind", "http", "-rate", "0"}, "a"},
		"no workers": {[]string{"-kind", "http", "-workers", "0"}, "a"},
	} {
		var out strings.Builder
		if err := run(t.Context(), tt.args, strings.NewReader(tt.names), &out); err == nil || out.Len() > 0 {
			t.Errorf("%s: got error %v and %q, want an error alone", name, err, out.String())
		}
	}
}
