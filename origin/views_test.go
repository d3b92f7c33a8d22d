package main

import (
	"bufio"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/postgres"
	"waypost/shared/click"
	"waypost/shared/link"
)

// idOf is the id under which clicks of the link are counted.
func idOf(t *testing.T, database, code string) uint64 {
	t.Helper()
	store, err := postgres.Open(t.Context(), postgres.Config{URL: database, MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	l, err := store.Link(t.Context(), link.Key{Code: code})
	if err != nil {
		t.Fatal(err)
	}
	return uint64(l.ID)
}

// watch opens a live view and returns its lines, until it ends.
func (o *running) watch(code string) <-chan string {
	o.t.Helper()
	ctx, cancel := context.WithCancel(o.t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", o.public+"/api/v1/links/"+code+"/live", http.NoBody)
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+o.adminKey())
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	lines := make(chan string)
	o.t.Cleanup(func() {
		cancel()
		_ = resp.Body.Close() // nothing more is read
		for range lines {     // until it is closed
		}
	})
	go func() {
		defer close(lines)
		for all := bufio.NewScanner(resp.Body); all.Scan(); {
			select {
			case lines <- all.Text():
			case <-ctx.Done():
			}
		}
	}()
	if resp.StatusCode != 200 {
		o.t.Fatalf("live view: status %d", resp.StatusCode)
	}
	return lines
}

// bring sends clicks of a link as an edge does: the nth of its log.
func (o *running) bring(id uint64, n uint64) {
	o.t.Helper()
	parts := make([]click.Part, click.Dimensions)
	for d := range parts {
		parts[d] = click.Part{Dimension: click.Dimension(d), Value: "x", Clicks: 3}
	}
	at := time.Now().UnixMicro()
	stretch := click.Stretch{Boot: "b", Region: "eu", From: n, To: n + 1, Links: []click.LinkClicks{{
		Link: id, Hours: []click.Hour{{Hour: click.HourOf(at), Clicks: 3, Bots: 1, Parts: parts}},
		Newest: []click.Recent{{At: at, Region: "eu", Referrer: "a.example"}},
	}}}
	if status, body := o.call("POST", o.internal+"/v1/clicks", string(stretch.Append(nil)), "secret"); status != 200 {
		o.t.Fatalf("stretch: %d %q", status, body)
	}
}

func TestALiveViewShowsWhatAnyOriginCounts(t *testing.T) {
	t.Parallel()
	env := map[string]string{"WAYPOST_DATABASE_URL": services.Postgres(t), "WAYPOST_NATS_URL": services.NATS(t).URL()}
	watches := start(t, env)
	watches.awaitReady()
	counts := start(t, env)
	counts.awaitReady()
	counts.keyFile = watches.keyFile
	watches.create("seen", "")
	id := idOf(t, env["WAYPOST_DATABASE_URL"], "seen")
	lines := watches.watch("seen")

	sent := uint64(0)
	for by, origin := range map[string]*running{"another origin": counts, "its own": watches} {
		// What is counted before the other origin has heard of the view is in no view.
		again := time.NewTicker(300 * time.Millisecond)
		limit := time.After(time.Minute)
		var shown []string
		for !slices.ContainsFunc(shown, isCounted) {
			select {
			case line, ok := <-lines:
				if !ok {
					t.Fatalf("%s: the view has ended", by)
				}
				shown = append(shown, line)
			case <-again.C:
				origin.bring(id, sent)
				sent++
			case <-limit:
				t.Fatalf("%s: no clicks in view: %q", by, shown)
			}
		}
		again.Stop()
		if text := strings.Join(shown, "\n"); !strings.Contains(text, "event: click\n") || !strings.Contains(text, `"referrer":"a.example"`) {
			t.Errorf("%s: no single clicks in view: %s", by, text)
		}
	}
	_, metrics := watches.call("GET", watches.ops+"/metrics", "", "")
	if want := "waypost_live_views 1"; !strings.Contains(string(metrics), want) {
		t.Errorf("metrics lack %s:\n%s", want, grep(metrics, "waypost_live"))
	}

	// A view does not hold up the end of its origin.
	if err := watches.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	for range lines { // until it is closed
	}
}

// isCounted reports whether a line of a stream tells of clicks.
func isCounted(line string) bool {
	_, total, ok := strings.Cut(line, `"total":`)
	return ok && !strings.HasPrefix(total, "0,")
}
