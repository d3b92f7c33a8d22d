package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"waypost/bench/fleet"
)

const badHost = "bad.example"

// The phases of a host that is blocked and unblocked while its links are read.
const (
	open int32 = iota
	blocking
	blocked
	unblocking
	openAgain
)

// watchedLinks are links to hosts that are blocked and unblocked.
type watchedLinks struct {
	links []fleet.Link
	phase atomic.Int32
	seen  [2]atomic.Int64 // answers: that led, that were 410
}

// judge says why a reply is wrong, to a request that began in one phase and ended in another.
func (w *watchedLinks) judge(l fleet.Link, r fleet.Reply, from, to int32) error {
	if leads(r, l.Target) == nil {
		w.seen[0].Add(1)
		if from == blocked && to == blocked && !marked(r) {
			return fmt.Errorf("%s leads to a blocked host (%s)", l.Code, r.Header.Get("Cache-Status"))
		}
		return nil
	}
	if err := isStatus(r, http.StatusGone); err != nil {
		return err
	}
	w.seen[1].Add(1)
	if to == open || from == openAgain {
		return fmt.Errorf("%s is 410 and not blocked (%s)", l.Code, r.Header.Get("Cache-Status"))
	}
	return nil
}

// read reads the links at every edge until stop is called.
func (w *watchedLinks) read(t *testing.T, f *fleet.Fleet) (stop func()) {
	t.Helper()
	var done atomic.Bool
	var readers sync.WaitGroup
	for _, e := range f.Edges {
		conn := e.Dial(t)
		readers.Go(func() {
			for i := 0; !done.Load(); i++ {
				l := w.links[i%len(w.links)]
				from := w.phase.Load()
				r, err := conn.Ask(fleet.Request{Path: l.Path()})
				if err == nil {
					err = w.judge(l, r, from, w.phase.Load())
				}
				if err != nil {
					t.Errorf("%s: %v", e.Name, err)
					return
				}
			}
		})
	}
	return func() {
		done.Store(true)
		readers.Wait()
	}
}

// all checks the answer of every link at every edge, as soon as that knows that it is up to date.
func (w *watchedLinks) all(t *testing.T, f *fleet.Fleet, is func(l fleet.Link, r fleet.Reply) error) {
	t.Helper()
	for _, e := range f.Edges {
		for _, l := range w.links {
			var r fleet.Reply
			fleet.Await(t, e.Name+" has a lease", func() error {
				if r = e.Get(t, l.Path()); marked(r) || r.Status == http.StatusServiceUnavailable {
					return fmt.Errorf("%d (%s)", r.Status, r.Header.Get("Cache-Status"))
				}
				return nil
			})
			if err := is(l, r); err != nil {
				t.Errorf("%s: %s: %v", e.Name, l.Code, err)
			}
		}
	}
}

func gone(_ fleet.Link, r fleet.Reply) error { return isStatus(r, http.StatusGone) }

func back(l fleet.Link, r fleet.Reply) error { return leads(r, l.Target) }

func TestHostThatIsBlockedIs410OnEveryEdgeWithinTheBoundAndBackOnceItIsNot(t *testing.T) {
	t.Parallel()
	f := audited(t, fleet.Spec{})
	api := f.API(t)
	w := &watchedLinks{links: api.MustBulk(t, 20, func(i int) fleet.Fields {
		return fleet.Fields{"target": fmt.Sprintf("https://a%d.%s/x", i, badHost)}
	})}
	others := numbered(t, api, "fine", 10)
	limited := api.MustCreate(t, fleet.Fields{"target": "https://" + badHost + "/", "max_clicks": 3})
	f.Settle(t)
	w.all(t, f, back)
	stop := w.read(t, f)
	defer stop()

	write := func(method, path string, body any) {
		answer, err := api.Do(t.Context(), method, path, body)
		if r := wrote(t, answer, err); r.Ack != "edges" || r.Edges != len(f.Edges) {
			t.Errorf("%s %s: receipt %+v, want one of all edges", method, path, r)
		}
	}
	for _, kind := range []string{"suffix", "exact"} { // exact: none of them, but the limited one
		block := func() {
			write(http.MethodPost, "/blocks", fleet.Fields{"host": strings.ToUpper(badHost) + ".", "kind": kind})
		}
		if kind == "exact" {
			block()
			w.all(t, f, back)
		} else {
			w.phase.Store(blocking)
			block()
			w.phase.Store(blocked) // the receipt says that every edge has it, or has no lease from before
			w.all(t, f, gone)
			atEvery(f.Edges, func(e *fleet.Edge) { allLead(t, e, 2, others) })
		}
		for _, e := range f.Edges {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				if err := isStatus(e.Must(t, fleet.Request{Method: method, Path: limited.Path()}), http.StatusGone); err != nil {
					t.Errorf("%s of a limited link, %s: %v", method, kind, err)
				}
			}
			for _, l := range []fleet.Link{w.links[0], limited} {
				if r := e.Get(t, l.Path()+"+"); kind == "suffix" && r.Status != http.StatusGone {
					t.Errorf("preview of %s: got %d, want 410", l.Code, r.Status)
				}
			}
		}
		refused(t, api, kind == "suffix", w.links[0])
		if kind == "suffix" {
			w.phase.Store(unblocking)
		}
		write(http.MethodDelete, "/blocks/"+badHost, nil)
		if kind == "suffix" {
			w.phase.Store(openAgain)
		}
		w.all(t, f, back)
	}
	stop()
	if w.seen[0].Load() == 0 || w.seen[1].Load() == 0 {
		t.Errorf("%d answers led, %d were 410: want some of each", w.seen[0].Load(), w.seen[1].Load())
	}
	// What was blocked took no use.
	if u := use(t, f.Edges, limited, 3); u.led.Load() != 3 {
		t.Errorf("%d uses were left of a limited link, want all 3", u.led.Load())
	}
	neverStale(t, f)
}

// refused checks that no link can be made, or changed, to lead to the blocked host.
func refused(t *testing.T, api *fleet.API, below bool, existing fleet.Link) {
	t.Helper()
	for host, want := range map[string]bool{badHost: true, "b." + badHost: below, "not" + badHost: false} {
		for _, field := range []string{"target", "expired_url"} {
			body := fleet.Fields{"target": "https://example.com/"}
			body[field] = "https://" + host + "/"
			answer, err := api.Do(t.Context(), http.MethodPost, "/links", body)
			if err != nil {
				t.Fatal(err)
			}
			if got := answer.Status == http.StatusUnprocessableEntity; got != want || want && !strings.Contains(string(answer.Body), `"`+field+`"`) {
				t.Errorf("create with %s %s: %d %s, want it refused: %v", field, host, answer.Status, answer.Body, want)
			}
		}
	}
	answer, err := api.Do(t.Context(), http.MethodPatch, "/links/"+existing.Code, fleet.Fields{"target": "https://" + badHost + "/"})
	if err != nil || answer.Status != http.StatusUnprocessableEntity {
		t.Errorf("change: %d %s, %v, want it refused", answer.Status, answer.Body, err)
	}
}

func TestBlockFileHoldsAtEveryEdgeFromTheStartAndWheneverItChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "blocked")
	write := func(lines ...string) {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# by the operator", "first.example")
	f := start(t, fleet.Spec{OriginEnv: map[string]string{"WAYPOST_BLOCK_FILE": path}})
	api := f.API(t)
	w := &watchedLinks{links: api.MustBulk(t, 5, func(i int) fleet.Fields {
		return fleet.Fields{"target": fmt.Sprintf("https://a%d.%s/x", i, badHost)}
	})}
	answer, err := api.Do(t.Context(), http.MethodPost, "/links", fleet.Fields{"target": "https://first.example/"})
	if err != nil || answer.Status != http.StatusUnprocessableEntity {
		t.Errorf("to a host that was blocked at start: %d %s, %v, want it refused", answer.Status, answer.Body, err)
	}
	await := func(what string, is func(fleet.Link, fleet.Reply) error) {
		for _, e := range f.Edges {
			fleet.Await(t, e.Name+" "+what, func() error { return is(w.links[0], e.Get(t, w.links[0].Path())) })
		}
		w.all(t, f, is)
	}
	await("has the links", back)
	many := []string{"*." + badHost}
	for i := range 1200 { // more than one write, and more than one page of changes
		many = append(many, fmt.Sprintf("host%d.example", i))
	}
	write(many...)
	await("has the file", gone)
	if answer, err := api.Do(t.Context(), http.MethodDelete, "/blocks/"+badHost, nil); err != nil || answer.Status != http.StatusConflict {
		t.Errorf("unblock what the file blocks: %d %s, %v, want 409", answer.Status, answer.Body, err)
	}
	write(many[0], "not a host")
	f.Edges[0].Kill() // who starts anew has the list before it has a lease
	f.Edges[0].Start(t)
	w.all(t, f, gone)
	write("first.example")
	await("has the shorter file", back)
}
