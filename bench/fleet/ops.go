package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// maxPage bounds what is read of an answer of an ops listener, in bytes.
const maxPage = 4 << 20

// Readiness is what /readyz says.
type Readiness struct {
	Code   int    `json:"-"` // of the answer
	Status string `json:"status"`
	Parts  map[string]struct {
		State  string `json:"state"`
		Reason string `json:"reason"`
	} `json:"parts"`
}

// Ready asks /readyz.
func (p *Process) Ready(ctx context.Context) (Readiness, error) {
	code, body, err := p.page(ctx, "/readyz")
	if err != nil {
		return Readiness{}, err
	}
	r := Readiness{Code: code}
	if err := json.Unmarshal(body, &r); err != nil {
		return Readiness{}, fmt.Errorf("%s /readyz: %w", p.Name, err)
	}
	return r, nil
}

// AwaitReady waits until the process is ready, and fails the test at once if it has ended.
func (p *Process) AwaitReady(tb testing.TB) {
	tb.Helper()
	Await(tb, p.Name+" is ready", func() error {
		if err := p.alive(); err != nil {
			tb.Fatal(err)
		}
		r, err := p.Ready(tb.Context())
		if err == nil && r.Code != http.StatusOK {
			err = fmt.Errorf("%s: %d, %+v", p.Name, r.Code, r)
		}
		return err
	})
}

// AwaitPart waits until /readyz gives a part this state, with this answer's status and sum.
func (p *Process) AwaitPart(tb testing.TB, part, state string, code int, status string) {
	tb.Helper()
	Await(tb, p.Name+": "+part+" is "+state, func() error {
		r, err := p.Ready(tb.Context())
		switch {
		case err != nil:
			return err
		case r.Parts[part].State != state, r.Code != code, r.Status != status:
			return differs("/readyz", r, fmt.Sprintf("%s %s, %d %s", part, state, code, status))
		}
		return nil
	})
}

// Metrics are the series of one scrape by their full name: `name{label="value"}`.
type Metrics map[string]float64

// Metrics scrapes /metrics.
func (p *Process) Metrics(ctx context.Context) (Metrics, error) {
	code, body, err := p.page(ctx, "/metrics")
	switch {
	case err != nil:
		return nil, err
	case code != http.StatusOK:
		return nil, fmt.Errorf("%s /metrics: status %d", p.Name, code)
	}
	all := Metrics{}
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(line)
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || line[0] == '#' {
			continue
		}
		value, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("%s /metrics: %q: %w", p.Name, line, err)
		}
		all[line[:at]] = value
	}
	return all, nil
}

// Metric is Sum of a scrape made now.
func (p *Process) Metric(tb testing.TB, name string, labels ...string) float64 {
	tb.Helper()
	all, err := p.Metrics(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	sum, err := all.Sum(name, labels...)
	if err != nil {
		tb.Fatalf("%s: %v", p.Name, err)
	}
	return sum
}

// LiveHeap is what a Go process has live on its heap, in bytes, by its runtime after a garbage collection.
func (p *Process) LiveHeap(tb testing.TB) float64 {
	tb.Helper()
	if code, _, err := p.page(tb.Context(), "/debug/pprof/heap?gc=1"); err != nil || code != http.StatusOK {
		tb.Fatalf("%s: heap profile: status %d, %v", p.Name, code, err)
	}
	return p.Metric(tb, "go_memstats_heap_alloc_bytes")
}

// Sum adds up the series of a name that have all these labels (`tier="l1"`). A name without any series is an error:
// a test that watches a misspelt metric would see 0 for ever.
func (m Metrics) Sum(name string, labels ...string) (sum float64, err error) {
	found := false
series:
	for series, value := range m {
		if series != name && !strings.HasPrefix(series, name+"{") {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(series, label) {
				continue series
			}
		}
		found = true
		sum += value
	}
	if !found {
		return 0, errors.New("no metric " + name + strings.Join(labels, ","))
	}
	return sum, nil
}

// logMetrics prints what the process has counted, if the test failed.
func (p *Process) logMetrics(tb testing.TB) {
	tb.Helper()
	if !tb.Failed() {
		return
	}
	all, err := p.Metrics(context.WithoutCancel(tb.Context()))
	if err != nil {
		tb.Logf("metrics of %s: %v", p.Name, err)
		return
	}
	var lines strings.Builder
	for _, series := range slices.Sorted(maps.Keys(all)) {
		if all[series] != 0 && strings.HasPrefix(series, "waypost_") && !strings.Contains(series, "_seconds") {
			fmt.Fprintf(&lines, "%s %v\n", series, all[series])
		}
	}
	tb.Logf("metrics of %s:\n%s", p.Name, &lines)
}

// page reads a page of the ops listener, by a connection of its own: a process that was killed or paused leaves no
// connection behind that could mislead the next call.
func (p *Process) page(ctx context.Context, path string) (code int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Ops+path, nil)
	if err != nil {
		return 0, nil, err
	}
	transport := http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxPage))
	return resp.StatusCode, body, err
}
