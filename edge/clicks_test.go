package main

import (
	"encoding/binary"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waypost/shared/click"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// books are an origin's counts: it applies a stretch that begins where its mark
// stands, and always answers the mark.
type books struct {
	mu       sync.Mutex
	away     bool
	marks    map[string]uint64
	clicks   map[uint64]uint64        // by link
	visitors map[uint64]*click.Sketch // of all days
	orphans  uint64
	newest   []click.Recent
}

func (b *books) take(t *testing.T, w http.ResponseWriter, r *http.Request) {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	s, err := click.ParseStretch(body)
	if err != nil {
		t.Errorf("a stretch cannot be read: %v", err)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if b.marks == nil {
		b.marks, b.clicks, b.visitors = make(map[string]uint64), make(map[uint64]uint64), make(map[uint64]*click.Sketch)
	}
	if b.marks[s.Boot] == s.From {
		b.marks[s.Boot] = s.To
		for _, l := range s.Links {
			for _, h := range l.Hours {
				b.clicks[l.Link] += h.Clicks
			}
			if b.visitors[l.Link] == nil {
				b.visitors[l.Link] = &click.Sketch{}
			}
			for i := range l.Days {
				b.visitors[l.Link].Merge(&l.Days[i].Visitors)
			}
			b.newest = append(b.newest, l.Newest...)
		}
		for _, o := range s.Orphans {
			b.orphans += o.Count
		}
	}
	_, _ = w.Write(binary.BigEndian.AppendUint64(nil, b.marks[s.Boot]))
}

func (b *books) setAway(is bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away = is
}

func (b *books) of(link uint64) (clicks, visitors, orphans uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if of := b.visitors[link]; of != nil {
		visitors = of.Count()
	}
	return b.clicks[link], visitors, b.orphans
}

// counted is an origin of two links of which clicks are counted, abc and the
// limited once, which leads on once.
func counted(t *testing.T) (url string, b *books) {
	t.Helper()
	b = &books{}
	var uses atomic.Int64
	other := origin(t).Config.Handler
	const day = 20_000 // its noon is when the origin's clock begins
	start, noon := time.Now(), (24*time.Hour*day + 12*time.Hour).Microseconds()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := r.URL.Query().Get("code")
		e := &feed.Entry{Epoch: 1, Key: link.Key{Code: code}}
		e.Body = feed.Body{State: feed.Enabled, LinkID: 1, Status: 302, Clicks: true, Target: "https://example.com/"}
		if code == "once" {
			e.LinkID, e.Limited, e.Target = 2, true, ""
		}
		switch path := r.URL.Path; {
		case path == "/v1/probe":
			heads := feed.Heads{Epoch: 1, Now: noon + time.Since(start).Microseconds(), Bound: time.Minute.Microseconds()}
			heads.Salts = []feed.Salt{{Day: day, Key: [feed.SaltSize]byte{1}}, {Day: day + 1, Key: [feed.SaltSize]byte{2}}}
			_, _ = w.Write(heads.Append(nil))
		case path == "/v1/clicks":
			b.take(t, w, r)
		case path == "/v1/fill" && (code == "abc" || code == "once"):
			_, _ = w.Write(e.Append(nil))
		case path == "/v1/use" && r.Method == http.MethodPost:
			use := feed.Use{Verdict: feed.UsedUp, Entry: e}
			if uses.Add(1) == 1 {
				use.Verdict, e.Target = feed.UseTaken, "https://example.com/once"
			}
			_, _ = w.Write(use.Append(nil))
		default:
			other.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, b
}

// bootCounting boots an edge that has neither Redis nor NATS: clicks need none.
func bootCounting(t *testing.T, url string, env map[string]string) *booted {
	t.Helper()
	settings := map[string]string{
		"WAYPOST_ORIGIN_URL": url, "WAYPOST_REDIS_URL": "redis://127.0.0.1:1", "WAYPOST_NATS_URL": "nats://127.0.0.1:1",
		"WAYPOST_LIMIT_MODE": "off",
	}
	maps.Copy(settings, env)
	b := boot(t, settings)
	eventually(t, b.log, func() bool {
		status, r := ready(t, b)
		return status == http.StatusOK && r.Parts["origin"].State == "ok"
	})
	return b
}

func TestEveryClickReachesTheOriginOnce(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"by the disk":      {"WAYPOST_STATE_DIR": t.TempDir()},
		"by a synced disk": {"WAYPOST_STATE_DIR": t.TempDir(), "WAYPOST_CLICKS_SYNC": "group"},
		"by memory":        {},
	} {
		t.Run(name, func(t *testing.T) {
			url, books := counted(t)
			b := bootCounting(t, url, env)
			const clicks = 30
			for range clicks {
				if status, _, _ := fetch(t, b.listen+"/abc"); status != http.StatusFound {
					t.Fatalf("got status %d", status)
				}
			}
			fetch(t, b.listen+"/nosuch")
			eventually(t, b.log, func() bool {
				got, _, orphans := books.of(1)
				return got >= clicks && orphans >= 1
			})
			b.end(t)
			if got, visitors, orphans := books.of(1); got != clicks || visitors != 1 || orphans != 1 {
				t.Errorf("got %d clicks of %d visitors and %d orphans, want %d, 1 and 1", got, visitors, orphans, clicks)
			}
			books.mu.Lock()
			defer books.mu.Unlock()
			if r := books.newest[0]; r.Region != "eu" || r.Bot {
				t.Errorf("got %+v, want a click of eu", r)
			}
		})
	}
}

func TestClicksOfAStoppedEdgeAreShippedByTheNext(t *testing.T) {
	url, books := counted(t)
	dir := map[string]string{"WAYPOST_STATE_DIR": t.TempDir()}
	books.setAway(true)
	b := bootCounting(t, url, dir)
	for range 3 {
		fetch(t, b.listen+"/abc")
	}
	b.end(t)
	if got, _, _ := books.of(1); got != 0 {
		t.Fatalf("an origin that is away got %d clicks", got)
	}
	books.setAway(false)
	b = bootCounting(t, url, dir)
	fetch(t, b.listen+"/abc")
	eventually(t, b.log, func() bool {
		got, _, _ := books.of(1)
		return got >= 4
	})
	b.end(t)
	if got, _, _ := books.of(1); got != 4 {
		t.Errorf("got %d clicks, want 4", got)
	}
}

func TestStoppingAmidRequestsLosesNoClick(t *testing.T) {
	url, books := counted(t)
	dir := map[string]string{"WAYPOST_STATE_DIR": t.TempDir()}
	b := bootCounting(t, url, dir)
	var sent, received atomic.Int64
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for {
				sent.Add(1)
				resp, err := client.Get(b.listen + "/abc")
				if err != nil {
					return // it has stopped accepting
				}
				_ = resp.Body.Close()
				if resp.StatusCode == http.StatusFound {
					received.Add(1)
				}
			}
		})
	}
	eventually(t, b.log, func() bool { return received.Load() > 200 })
	b.end(t)
	clients.Wait()
	next := bootCounting(t, url, dir) // ships what the first one had no time for
	fetch(t, next.listen+"/abc")
	least := uint64(received.Load()) + 1
	eventually(t, next.log, func() bool {
		got, _, _ := books.of(1)
		return got >= least
	})
	next.end(t)
	if got, _, _ := books.of(1); got < least || got > uint64(sent.Load())+1 {
		t.Errorf("got %d clicks, want %d, and at most %d", got, least, sent.Load()+1)
	}
}

func TestALimitedLinkLeadsOnOnceAndShowsNobodyElseWhere(t *testing.T) {
	url, books := counted(t)
	b := bootCounting(t, url, nil)
	if status, _, header := fetch(t, b.listen+"/once"); status != 302 || header.Get("Location") != "https://example.com/once" ||
		header.Get("Cache-Status") != "waypost-eu; fwd=bypass" {
		t.Errorf("got %d, %v", status, header)
	}
	if status, _, header := fetch(t, b.listen+"/once"); status != 410 || header.Get("Location") != "" {
		t.Errorf("the second time: got %d, %v", status, header)
	}
	if status, body, _ := fetch(t, b.listen+"/once+"); status != 200 || strings.Contains(body, "https://example.com/once") {
		t.Errorf("preview: got %d, %s", status, body)
	}
	eventually(t, b.log, func() bool {
		got, _, _ := books.of(2)
		return got == 1
	})
}

func TestWithClicksOffNothingIsKept(t *testing.T) {
	url, books := counted(t)
	dir := t.TempDir()
	b := bootCounting(t, url, map[string]string{"WAYPOST_STATE_DIR": dir, "WAYPOST_CLICKS": "off"})
	if status, _, _ := fetch(t, b.listen+"/abc"); status != http.StatusFound {
		t.Errorf("got status %d", status)
	}
	fetch(t, b.listen+"/nosuch")
	if status, _, _ := fetch(t, b.listen+"/once"); status != http.StatusFound {
		t.Errorf("a limited link: got status %d", status)
	}
	b.end(t)
	if got, _, orphans := books.of(1); got != 0 || orphans != 0 {
		t.Errorf("got %d clicks and %d orphans, want none", got, orphans)
	}
	if _, err := os.Stat(filepath.Join(dir, "clicks")); !os.IsNotExist(err) {
		t.Errorf("got %v, want no folder of clicks", err)
	}
}

func TestAFolderOfClicksIsOneEdges(t *testing.T) {
	url, _ := counted(t)
	shared := t.TempDir()
	bootCounting(t, url, map[string]string{"WAYPOST_STATE_DIR": shared})
	// Another state folder whose clicks are the first one's.
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(shared, "clicks"), filepath.Join(dir, "clicks")); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"WAYPOST_ORIGIN_URL": url, "WAYPOST_STATE_DIR": dir, "WAYPOST_LISTEN": "127.0.0.1:0", "WAYPOST_OPS_LISTEN": "127.0.0.1:0",
		"WAYPOST_REDIS_URL": "redis://127.0.0.1:1", "WAYPOST_NATS_URL": "nats://127.0.0.1:1",
	}
	err := run(t.Context(), nil, func(name string) string { return env[name] }, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("got error %v, want one that says so", err)
	}
}

func TestADiskThatCannotBeUsedKeepsNoEdgeFromCounting(t *testing.T) {
	url, books := counted(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "clicks"), []byte("no folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := bootCounting(t, url, map[string]string{"WAYPOST_STATE_DIR": dir})
	fetch(t, b.listen+"/abc")
	eventually(t, b.log, func() bool {
		got, _, _ := books.of(1)
		return got == 1
	})
	if got := strings.Count(b.log.String(), "counted in memory alone"); got != 1 {
		t.Errorf("got %d lines about it, want one:\n%s", got, b.log)
	}
}

func TestWhatCountsClicksHasMetrics(t *testing.T) {
	url, books := counted(t)
	b := bootCounting(t, url, map[string]string{"WAYPOST_STATE_DIR": t.TempDir()})
	fetch(t, b.listen+"/abc")
	eventually(t, b.log, func() bool {
		got, _, _ := books.of(1)
		return got == 1
	})
	eventually(t, b.log, func() bool {
		_, metrics, _ := fetch(t, b.ops+"/metrics")
		return strings.Contains(metrics, "waypost_edge_clicks_shipped_total 1")
	})
	_, metrics, _ := fetch(t, b.ops+"/metrics")
	for _, line := range []string{
		"waypost_edge_clicks_in_memory 0", "waypost_edge_clicks_lost_total 0", "waypost_edge_clicks_over_budget 0",
		"waypost_edge_clicks_unsalted_total 0", "waypost_edge_spool_stalled 0", "waypost_edge_spool_frames_total 1",
	} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(metrics) {
			t.Errorf("/metrics lacks %s", line)
		}
	}
}
