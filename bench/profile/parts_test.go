package profile

import (
	"slices"
	"testing"

	"github.com/google/pprof/profile"
)

// sample is one of so many nanoseconds in functions, the innermost first. An empty name is a place without a function.
func sample(ns int64, functions ...string) *profile.Sample {
	s := &profile.Sample{Value: []int64{1, ns}}
	for _, name := range functions {
		line := profile.Line{}
		if name != "" {
			line.Function = &profile.Function{Name: name}
		}
		s.Location = append(s.Location, &profile.Location{Line: []profile.Line{line}})
	}
	return s
}

func TestASampleBelongsToTheInnermostFunctionThatHasAPart(t *testing.T) {
	t.Parallel()
	const handler = "waypost/edge/internal/httpd.(*handler).serve"
	for want, s := range map[string]*profile.Sample{
		"socket: request read":             sample(1, "waypost/edge/internal/httpd.call", "waypost/edge/internal/httpd.receive", "waypost/edge/internal/httpd.(*kept).try"),
		"socket: answer written":           sample(1, "syscall.write", "internal/poll.(*FD).Write", "waypost/edge/internal/httpd.(*headConn).Write", "bufio.(*Writer).Flush", "github.com/valyala/fasthttp.(*Server).serveConn"),
		"HTTP: head parsed, head made":     sample(1, "runtime.memmove", "github.com/valyala/fasthttp.(*RequestHeader).parse", handler),
		"httpd: the answer put together":   sample(1, "", "runtime.nanotime", handler),
		"metrics":                          sample(1, "waypost/edge/internal/httpd.(*Metrics).answered", handler),
		"clicks: record, spool, stretches": sample(1, "syscall.Pwrite", "waypost/edge/internal/clicks/spool.(*writer).write", "waypost/edge/internal/clicks.(*Counter).Count", handler),
		"the rule and L1":                  sample(1, "waypost/shared/feed.(*Table).Load", "waypost/edge/internal/redirect.(*Resolver).Resolve", handler),
		"scheduler and poller":             sample(1, "runtime.netpoll", "runtime.findRunnable", "runtime.mcall"),
		"garbage collector":                sample(1, "runtime.scanobject", "runtime.gcBgMarkWorker"),
		other:                              sample(1, "main.main", "runtime.main"),
	} {
		if got := partOf(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPartsAreSharesOfTheTimeTheLargestFirst(t *testing.T) {
	t.Parallel()
	const limiter, rule = "waypost/edge/internal/limit.(*Limiter).Allow", "waypost/edge/internal/redirect.(*Resolver).Resolve"
	got := Parts(&profile.Profile{Sample: []*profile.Sample{sample(10, limiter), sample(50, rule), sample(10, "x"), sample(10, limiter)}})
	want := []Part{{"the rule and L1", 0.625}, {"limiter", 0.25}, {other, 0.125}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := Parts(&profile.Profile{}); len(got) != 0 {
		t.Errorf("of no samples got %v, want nothing", got)
	}
}
