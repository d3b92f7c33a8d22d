package redirects

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"waypost/bench/load"
	"waypost/bench/measure"
	"waypost/bench/peers"
	"waypost/deploy/services"
)

const wrkMethod = "Redirects of %s, all in L1, asked for by wrk in a closed loop: one thread, %d connections from one address, %d turns of %s each after one that is left out, Waypost and its peers in turns. %s" +
	" Ratios are of turns that follow each other. Throughput is not told where wrk took 90 %% of its core or more."

// The ways in which wrk is told what to ask.
const (
	wrkChecked = "The script is bench/wrk/%s: a browser's headers, and every answer's status and Location are checked, for which wrk reads each head into Lua."
	wrkPlain   = "No script: one request over and over, with the headers of one browser; only what is not 2xx or 3xx is noticed."
)

// wrkPeers are those that are asked by wrk too.
func (m *measuring) wrkPeers() []peers.Name {
	if m.Full() {
		return []peers.Name{peers.Bare, peers.Nginx, peers.HAProxy}
	}
	return []peers.Name{peers.Nginx}
}

// byWrk measures the same redirects as a program that everybody has asks for them.
func (s *stage) byWrk(t *testing.T, candidates []*Candidate, links int) {
	t.Helper()
	script := "many.lua"
	if links == 1 {
		script = "one.lua"
		s.wrk(t, "plain", wrkPlain, candidates, links, func(addr string) []string {
			return append(plainHeaders(), "http://"+addr+s.links[0].Path())
		})
	}
	s.wrk(t, "checked", fmt.Sprintf(wrkChecked, script), candidates, links, func(addr string) []string {
		args := []string{"-s", filepath.Join("..", "wrk", script), "http://" + addr, "--"}
		if links > 1 {
			args = append(args, strconv.Itoa(links))
		}
		return args
	})
}

// plainHeaders are wrk's options for those of one browser.
func plainHeaders() (options []string) {
	for _, line := range load.Browser(0) {
		options = append(options, "-H", line)
	}
	return append(options, "-H", "Referer: https://site-0.example/articles/1", "-H", "Accept-Language: "+load.Languages()[0])
}

// wrk has candidates asked in turns, each with the arguments for its address.
func (s *stage) wrk(t *testing.T, way, how string, candidates []*Candidate, links int, args func(addr string) []string) {
	t.Helper()
	rounds, lasting := s.Times(1, 3), s.Lasting(time.Second, 2*time.Second)
	addrs := map[*Candidate]string{candidates[0]: s.Edges[0].Addr}
	asked := candidates[:1:1]
	for i, p := range s.peers {
		if c := candidates[i+1]; slices.Contains(s.wrkPeers(), p.Name) && (!p.Constant || links == 1) {
			asked, addrs[c] = append(asked, c), p.Addr
		}
	}
	turns, err := Interleave(asked, rounds, func(c *Candidate) (Turn, error) {
		return c.Take(func(*load.Generator) (load.Result, error) {
			return runWrk(t.Context(), s.Times(4, conns), lasting, args(addrs[c]))
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	method := fmt.Sprintf(wrkMethod, codes(links), s.Times(4, conns), rounds, lasting, how)
	var ratios []measure.Value
	for i, c := range asked {
		cpu, share := Each(turns[i], Turn.PerAnswer), measure.Median(Each(turns[i], func(t Turn) float64 { return t.Share() }))
		values := []measure.Value{measure.Number("CPU", 0, "µs").Of(cpu), measure.Number("saturation", 1e6/measure.Median(cpu), "/s")}
		if share < saturated {
			values = append(values, measure.Number("throughput", 0, "/s").Of(Each(turns[i], func(t Turn) float64 { return t.PerSecond() })))
		}
		values = append(values, measure.Number("wrk's core", 100*share, "%"))
		s.Found(t, measure.Figure{Name: fmt.Sprintf("%s: a redirect of %s by wrk, %s", c.Name, codes(links), way), Unit: "redirects", N: Answers(turns[i]), Method: method, Values: values})
		if i > 0 {
			ratios = append(ratios, measure.Number("of "+c.Name, 0, "×").Of(Ratios(turns[0], turns[i], Turn.PerAnswer)))
		}
	}
	s.Found(t, measure.Figure{
		Name: fmt.Sprintf("CPU of a redirect of %s by wrk, %s, against", codes(links), way), Unit: "redirects", N: Answers(turns[0]), Method: method, Values: ratios,
	})
}

var (
	wrkSum    = regexp.MustCompile(`(?m)^\s+(\d+) requests in ([\d.]+m?s), `)
	wrkFaults = regexp.MustCompile(`(?m)^\s+(Non-2xx or 3xx responses|Socket errors): .*[1-9].*$`)
)

// runWrk runs wrk, and tells what it was answered and what it used. Anything that it says is wrong is an error.
func runWrk(ctx context.Context, conns int, lasting time.Duration, args []string) (load.Result, error) {
	program, err := exec.LookPath("wrk")
	if err != nil {
		return load.Result{}, &services.MissingError{Program: "wrk", Package: "wrk"}
	}
	seconds := strconv.Itoa(int(math.Ceil(lasting.Seconds())))
	cmd := exec.CommandContext(ctx, program, append([]string{"-t1", "-c" + strconv.Itoa(conns), "-d" + seconds + "s", "--timeout", "30s"}, args...)...)
	said, err := cmd.CombinedOutput()
	if err != nil {
		return load.Result{}, fmt.Errorf("%s: %w:\n%s", cmd, err, said)
	}
	got, err := readWrk(said)
	got.Busy = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return got, err
}

// readWrk reads what wrk said at its end.
func readWrk(said []byte) (got load.Result, err error) {
	if fault := wrkFaults.Find(said); fault != nil {
		return got, fmt.Errorf("wrk: %s", fault)
	}
	sum := wrkSum.FindSubmatch(said)
	if sum == nil {
		return got, fmt.Errorf("wrk said nothing of its requests:\n%s", said)
	}
	var failed error
	got.Answers, err = strconv.Atoi(string(sum[1]))
	got.Took, failed = time.ParseDuration(string(sum[2]))
	return got, errors.Join(err, failed)
}

func TestWhatWrkSays(t *testing.T) {
	t.Parallel()
	const sum = "Running 2s test @ http://127.0.0.1:1\n  1 threads and 64 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   734.45us\n" +
		"  151042 requests in 2.10s, 30.83MB read\n"
	for _, tt := range []struct {
		name, said string
		want       load.Result
		ok         bool
	}{
		{"all well", sum + "Requests/sec:  71925.42\n", load.Result{Answers: 151042, Took: 2100 * time.Millisecond}, true},
		{"answers of errors", sum + "  Non-2xx or 3xx responses: 12\n", load.Result{}, false},
		{"lost connections", sum + "  Socket errors: connect 0, read 3, write 0, timeout 0\n", load.Result{}, false},
		{"nothing", "", load.Result{}, false},
	} {
		got, err := readWrk([]byte(tt.said))
		if (err == nil) != tt.ok || tt.ok && (got.Answers != tt.want.Answers || got.Took != tt.want.Took) {
			t.Errorf("%s: got %d answers in %s, error %v; want %d in %s, ok %v", tt.name, got.Answers, got.Took, err, tt.want.Answers, tt.want.Took, tt.ok)
		}
	}
}
