package load

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// asked counts requests by client and path.
type asked struct {
	mu    sync.Mutex
	times map[string]int
}

// sum is how often anything was asked for.
func (a *asked) sum() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, times := range a.times {
		n += times
	}
	return n
}

func (a *asked) answer(client, path string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.times == nil {
		a.times = make(map[string]int)
	}
	a.times[client+path]++
	return "HTTP/1.1 302 Found\r\nLocation: to" + path + "\r\nX-Path: " + path + "\r\nContent-Length: 0\r\n\r\n"
}

func TestAClosedLoopCountsItsAnswersAndAsksForAllFromEachClient(t *testing.T) {
	t.Parallel()
	var server asked
	g := start(t, Plan{Addr: serve(t, server.answer), Conns: 3, Asks: []Ask{Redirect("/a", "to/a"), Redirect("/b", "to/b")}})
	answers := 0
	for range 2 { // one loop after the other
		got, err := g.Closed(t.Context(), 50*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		answers += got.Answers
		if got.PerSecond() <= 0 || got.Busy <= 0 || got.Share() <= 0 || got.Took < 50*time.Millisecond {
			t.Errorf("got %v a second, busy for %s, %v of %s, want more", got.PerSecond(), got.Busy, got.Share(), got.Took)
		}
	}
	if total := server.sum(); answers != total || answers < 6 {
		t.Errorf("got %d answers, want the %d that the server gave", answers, total)
	}
	for _, want := range []string{"127.1.0.0/a", "127.1.0.0/b", "127.1.0.1/a", "127.1.0.2/b"} {
		if server.times[want] == 0 {
			t.Errorf("%s was never asked for", want)
		}
	}
}

func TestAnOpenLoopAsksAsOftenAsItShould(t *testing.T) {
	t.Parallel()
	var server asked
	plan := Plan{
		Addr: serve(t, server.answer), Conns: 4, Asks: []Ask{Redirect("/a", "to/a"), Redirect("/b", "to/b"), Redirect("/b", "to/b")},
		Classes: []string{"a", "b"},
		Class: func(ask int, head []byte) int {
			if (ask == 0) != bytes.Contains(head, []byte("X-Path: /a\r\n")) {
				t.Errorf("ask %d: got the head %q", ask, head)
			}
			return min(ask, 1)
		},
	}
	got, err := start(t, plan).Open(t.Context(), 1000, 150*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if got.Answers != 150 || server.sum() != 150 || got.Late.N() != 150 || got.Took < 149*time.Millisecond {
		t.Errorf("got %d of %d answers in %s, %d sent, want 150 in 149 ms or more", got.Answers, server.sum(), got.Took, got.Late.N())
	}
	for i, want := range []struct {
		name string
		n    int64
	}{{"a", 50}, {"b", 100}} {
		c := got.Classes[i]
		if c.Name != want.name || c.Times.N() != want.n || c.Times.Quantile(0.5) <= 0 || c.Times.Quantile(1) > c.Times.Max() {
			t.Errorf("got class %s of %d, p50 %s, max %s, want %s of %d", c.Name, c.Times.N(), c.Times.Quantile(0.5), c.Times.Max(), want.name, want.n)
		}
	}
}

// A server that stops for a while keeps all requests waiting that come meanwhile, whether or not they could be sent.
func TestAStallIsChargedToAllRequestsThatWereDueMeanwhile(t *testing.T) {
	t.Parallel()
	const stall = 200 * time.Millisecond
	var once sync.Once
	var server asked
	over := make(chan struct{})
	addr := serve(t, func(client, path string) string {
		once.Do(func() { time.AfterFunc(stall, func() { close(over) }) })
		<-over
		return server.answer(client, path)
	})
	got, err := start(t, Plan{Addr: addr, Conns: 2, Asks: []Ask{Redirect("/a", "to/a")}}).Open(t.Context(), 1000, 2*stall)
	if err != nil {
		t.Fatal(err)
	}
	// 400 requests. Of the first 101 each waited for half of the stall or longer, and only two could be sent.
	const least = stall/2 - time.Millisecond // the times have three digits
	if times := got.Classes[0].Times; times.N() != 400 || times.Quantile(0.75) < least {
		t.Errorf("got p75 %s of %d, want %s or more of 400", times.Quantile(0.75), times.N(), least)
	}
	if got.Late.Quantile(0.755) < least {
		t.Errorf("got p75.5 %s of the lateness, want %s or more", got.Late.Quantile(0.755), least)
	}
}

func TestAnAnswerMayComeInPieces(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long", maxAnswer/8)
	addr := serve(t, func(string, string) string {
		return "HTTP/1.1 302 Found\r\nLocation: " + long + "\r\nContent-Length: 5000\r\n\r\n" + strings.Repeat("x", 5000)
	})
	got, err := start(t, Plan{Addr: addr, Conns: 2, Asks: []Ask{Redirect("/a", long)}}).Open(t.Context(), 1000, 20*time.Millisecond)
	if err != nil || got.Answers != 20 || got.Bytes < 20*(len(long)+5000) {
		t.Errorf("got %d answers of %d bytes, error %v, want 20 of more than %d and none", got.Answers, got.Bytes, err, 20*(len(long)+5000))
	}
}

func TestALoopEndsWithWhatIsNotItsAnswer(t *testing.T) {
	t.Parallel()
	const right = "HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Length: 0\r\n\r\n"
	for _, tt := range []struct{ name, answer, want string }{
		{"another status", strings.Replace(right, "302", "404", 1), "got status 404"},
		{"another location", strings.Replace(right, "/to", "/too", 1), `location "/too"`},
		{"no location", strings.Replace(right, "Location: /to\r\n", "", 1), `location ""`},
		{"no length", strings.Replace(right, "Content-Length: 0\r\n", "", 1), "unknown length"},
		{"two answers", right + right, "more than one"},
		{"the connection closed", "", "closed a connection"},
		{"nothing", "silence", "no answer for 20ms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			plan := Plan{Conns: 2, Asks: []Ask{Redirect("/", "/to")}}
			if tt.answer == "silence" {
				plan.Patience = 20 * time.Millisecond
			}
			silent := make(chan struct{})
			plan.Addr = serve(t, func(string, string) string {
				if tt.answer == "silence" {
					<-silent
				}
				return tt.answer
			})
			t.Cleanup(func() { close(silent) }) // before the server's end is awaited
			if _, err := start(t, plan).Closed(t.Context(), 10*time.Second); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("closed: got error %v, want one with %q", err, tt.want)
			}
			if _, err := start(t, plan).Open(t.Context(), 1000, 10*time.Second); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("open: got error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestAnOpenLoopGivesUpOnAServerThatIsTooSlow(t *testing.T) {
	t.Parallel()
	var server asked
	addr := serve(t, func(client, path string) string {
		timer := time.NewTimer(5 * time.Millisecond)
		defer timer.Stop()
		<-timer.C
		return server.answer(client, path)
	})
	g := start(t, Plan{Addr: addr, Conns: 1, Asks: []Ask{Redirect("/a", "to/a")}, Patience: 200 * time.Millisecond})
	_, err := g.Open(t.Context(), 10_000, 50*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "answer") || !strings.Contains(err.Error(), "200ms") {
		t.Errorf("got error %v, want one that says that not all was answered", err)
	}
}

func TestALoopEndsWithItsContext(t *testing.T) {
	t.Parallel()
	var server asked
	g := start(t, Plan{Addr: serve(t, server.answer), Conns: 2, Asks: []Ask{Redirect("/a", "to/a")}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Closed(ctx, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("closed: got %v, want the context's error", err)
	}
}

func TestALoopLeavesItsThreadAsItWas(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread() // so that this thread is the loop's
	defer runtime.UnlockOSThread()
	before, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var server asked
	g := start(t, Plan{Addr: serve(t, server.answer), Conns: 1, Asks: []Ask{Redirect("/a", "to/a")}})
	if _, err := g.Closed(t.Context(), time.Millisecond); err != nil {
		t.Fatal(err)
	}
	after, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if *after != *before {
		t.Errorf("got scheduled as %+v, want %+v as before", *after, *before)
	}
}

func TestALoopRunsBeforeOthersOfItsCore(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("the kernel lets root alone")
	}
	var server asked
	var nice int32
	g := start(t, Plan{Addr: serve(t, server.answer), Conns: 1, Asks: []Ask{Redirect("/a", "to/a")}, Classes: []string{"all"}, Class: func(int, []byte) int {
		if sched, err := unix.SchedGetAttr(0, 0); err == nil {
			nice = sched.Nice
		}
		return 0
	}})
	if _, err := g.Closed(t.Context(), time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if nice != niceness {
		t.Errorf("got niceness %d, want %d", nice, niceness)
	}
}

func TestAGeneratorWantsAServer(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"nowhere", "127.0.0.1:1"} {
		if _, err := New(Plan{Addr: addr, Conns: 1, Asks: []Ask{Redirect("/", "/")}}); err == nil {
			t.Errorf("%s: got no error", addr)
		}
	}
}
