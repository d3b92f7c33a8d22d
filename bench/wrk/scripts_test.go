package wrk

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"waypost/bench/fleet"
	"waypost/deploy/services"
)

// run runs a script against a server for a second, with arguments for it.
func run(t *testing.T, url, script string, args ...string) (said string, err error) {
	t.Helper()
	program, err := exec.LookPath("wrk")
	if err != nil {
		t.Fatal(&services.MissingError{Program: "wrk", Package: "wrk"})
	}
	out, err := exec.CommandContext(t.Context(), program, append([]string{"-t1", "-c4", "-d1s", "--timeout", "30s", "-s", script, url, "--"}, args...)...).CombinedOutput()
	return string(out), err
}

func TestScriptsFindNothingWrongOnAnEdgeThatIsSeeded(t *testing.T) {
	t.Parallel()
	// wrk takes all the CPU that it can get. An edge that gets too little to renew its leases answers 503 to unknown codes.
	f := fleet.Start(t, fleet.Spec{Binaries: binaries, Edges: []string{"eu"}, OriginEnv: map[string]string{"WAYPOST_STALE_BOUND": "30s"}})
	seed := func(key string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "./seed.sh", "http://"+f.Origins[0].API, key, "1500").CombinedOutput()
		return string(out), err
	}
	key := f.AdminKeys(t)[0]
	for _, want := range []string{"1500 links: 1500 made, 0 were there\n", "1500 links: 0 made, 1500 were there\n"} {
		if said, err := seed(key); err != nil || said != want {
			t.Fatalf("seed.sh: got %q, %v, want %q", said, err, want)
		}
	}
	if said, err := seed("wp_nobody"); err == nil || !strings.Contains(said, "Unauthorized") {
		t.Errorf("seed.sh with a key of nobody: got %q, %v, want an error", said, err)
	}
	f.Settle(t)
	for _, args := range [][]string{{"one.lua"}, {"../wrk/many.lua", "1500"}, {"zipf.lua", "1500"}, {"unknown.lua"}} {
		said, err := run(t, "http://"+f.Edges[0].Addr, args[0], args[1:]...)
		if err != nil || !strings.Contains(said, " 0 wrong, 0 limited, 0 errors") {
			t.Errorf("%v: %v:\n%s", args, err, said)
		}
	}
}

// serve answers every code, without the slash, by a status and a Location, if there is one.
func serve(t *testing.T, answer func(code string) (status int, location string)) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, location := answer(strings.TrimPrefix(r.URL.Path, "/"))
		if location != "" {
			w.Header().Set("Location", location)
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// target is that of a seeded link.
func target(code string) string {
	return "https://example.com/somewhere/to/go?with=a&link=" + strings.TrimPrefix(code, "wk")
}

func TestScriptsFindWrongAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, script string
		answer       func(code string) (status int, location string)
		want         string
	}{
		{"another status", "one.lua", func(code string) (int, string) { return 301, target(code) }, "wrong, for example: status 301 to https://example.com/"},
		{"no Location", "one.lua", func(string) (int, string) { return 302, "" }, "wrong, for example: status 302 without Location"},
		{"one byte differs", "one.lua", func(code string) (int, string) { return 302, target(code) + "/" }, "wrong, for example: status 302 to "},
		{"another link's target", "many.lua", func(code string) (int, string) { return 302, target(code[:len(code)-1] + "0") }, "wrong, for example: status 302 to "},
		{"limited", "zipf.lua", func(string) (int, string) { return 429, "" }, "limited: wrk is one client"},
		{"a code that nobody has leads somewhere", "unknown.lua", func(string) (int, string) { return 302, "https://example.com/" }, "wrong, for example: status 302 to https://example.com/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			said, err := run(t, serve(t, tt.answer), tt.script)
			if err == nil || !strings.Contains(said, tt.want) {
				t.Errorf("%s: got error %v, want one with %q:\n%s", tt.script, err, tt.want, said)
			}
		})
	}
}

func TestZipfAsksForALinkTheMoreOftenTheLowerItsNumber(t *testing.T) {
	t.Parallel()
	const links = 100
	var mu sync.Mutex
	var counts [links]float64
	url := serve(t, func(code string) (int, string) {
		i, err := strconv.Atoi(strings.TrimPrefix(code, "wk"))
		if err != nil || i >= links {
			return http.StatusNotFound, ""
		}
		mu.Lock()
		defer mu.Unlock()
		counts[i]++
		return http.StatusFound, target(code)
	})
	if said, err := run(t, url, "zipf.lua", strconv.Itoa(links)); err != nil {
		t.Fatalf("%v:\n%s", err, said)
	}
	mu.Lock()
	defer mu.Unlock()
	var n, harmonic float64
	for i := range counts {
		n += counts[i]
		harmonic += 1 / float64(i+1)
	}
	for _, i := range []int{0, 1, 2, 9, 49, 99} {
		want := 1 / (float64(i+1) * harmonic)
		if got, off := counts[i]/n, 5*math.Sqrt(want*(1-want)/n); math.Abs(got-want) > off {
			t.Errorf("link %d got %s of %v requests, want %s", i, share(got), n, share(want))
		}
	}
}

func share(of float64) string { return fmt.Sprintf("%.2f %%", 100*of) }
