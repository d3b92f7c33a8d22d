package main

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/deploy/services"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/feed"
)

// probe asks an origin for heads by HTTP, as an edge does.
func (o *running) probe(p feed.Probe) *feed.Heads {
	o.t.Helper()
	status, body := o.call("POST", o.internal+"/v1/probe", string(p.Append(nil)), "secret")
	heads, err := feed.ParseHeads(body)
	if status != 200 || err != nil {
		o.t.Fatalf("probe: %d %q, %v", status, body, err)
	}
	return heads
}

// create makes a link and returns what is said of its way to the edges.
func (o *running) create(alias, query string) string {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), "POST", o.public+"/api/v1/links"+query,
		strings.NewReader(`{"target": "https://example.com/", "alias": "`+alias+`"}`))
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+o.adminKey())
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	resp, err := client.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 201 {
		o.t.Fatalf("create: %d %s, %v", resp.StatusCode, body, err)
	}
	return resp.Header.Get("Waypost-Propagation")
}

func (o *running) wantReceipt(got, want string) {
	o.t.Helper()
	if !strings.HasPrefix(got, want+", ms=") {
		o.t.Errorf("Waypost-Propagation = %q, want %s", got, want)
	}
}

func TestAWriteIsConfirmedByEdgesByNATSAndByHTTP(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	env := map[string]string{
		"WAYPOST_DATABASE_URL": services.Postgres(t), "WAYPOST_NATS_URL": n.URL(), "WAYPOST_STALE_BOUND": "5s",
	}
	o := start(t, env)
	o.awaitReady()
	other := start(t, env)
	other.awaitReady()
	other.keyFile = o.keyFile
	o.wantReceipt(o.create("before", ""), "ack=edges, edges=0, acked=0")

	// One edge by NATS, which acknowledges where the change came from.
	nc, err := nats.Connect(n.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	eu, us := feed.Member{ID: "eu", Boot: "b"}, feed.Member{ID: "us", Boot: "b"}
	changes := make(chan *feed.Change, 16)
	if _, err := nc.Subscribe(feed.SubjectAll("waypost"), func(msg *nats.Msg) {
		c, err := feed.ParseChange(msg.Data)
		if err != nil {
			t.Errorf("change: %v", err)
			return
		}
		ack := feed.Ack{Member: eu, Epoch: c.Epoch, Positions: []feed.Position{{Shard: c.Shard, Seq: c.Seq}}}
		_ = msg.Respond(ack.Append(nil)) // fails only when the test has ended
		changes <- c
	}); err != nil {
		t.Fatal(err)
	}
	o.await("an answer by NATS", func() bool {
		probe := feed.Probe{Member: eu}
		msg, err := nc.Request(feed.SubjectProbe("waypost"), probe.Append(nil), time.Second)
		if err != nil {
			return false
		}
		heads, err := feed.ParseHeads(msg.Data)
		return err == nil && heads.Bound == 5_000_000 || heads.Bound == 1_000_000
	})
	// One by HTTP, which tells every origin.
	o.probe(feed.Probe{Member: us})
	for i, writer := range []*running{o, other} {
		acked := make(chan struct{})
		go func() {
			defer close(acked)
			c := <-changes
			ack := feed.Ack{Member: us, Epoch: c.Epoch, Positions: []feed.Position{{Shard: c.Shard, Seq: c.Seq}}}
			for _, origin := range []*running{o, other} {
				if status, body := origin.call("POST", origin.internal+"/v1/ack", string(ack.Append(nil)), "secret"); status != 200 {
					t.Errorf("ack: %d %s", status, body)
				}
			}
		}()
		writer.wantReceipt(writer.create("both"+string(rune('0'+i)), ""), "ack=edges, edges=2, acked=2")
		<-acked
	}
	o.wantReceipt(o.create("commit", "?ack=commit"), "ack=commit, edges=0, acked=0")
	<-changes

	// A probe that leaves takes the edge off: first it counts, then it is gone.
	o.probe(feed.Probe{Member: us, Leaving: true})
	o.wantReceipt(o.create("left", ""), "ack=edges, edges=2, acked=1")
	o.wantReceipt(o.create("gone", ""), "ack=edges, edges=1, acked=1")

	_, body := o.call("GET", o.ops+"/metrics", "", "")
	for _, want := range []string{
		`waypost_edges 1`, `waypost_edges_silent_total 0`, `waypost_barrier_seconds_count 4`, `waypost_acks_total{way="http"} 2`,
		`waypost_acks_total{way="nats"} 4`, `waypost_nats_damaged_total 0`, `waypost_epoch_bumps_total 0`,
	} {
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("metrics lack %s:\n%s", want, grep(body, "waypost_"))
		}
	}
}

// grep keeps the lines of metrics that begin so.
func grep(metrics []byte, prefix string) string {
	var lines strings.Builder
	for line := range strings.Lines(string(metrics)) {
		if strings.HasPrefix(line, prefix) {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

func TestADomainOfTheSettingsIsWaitedForBeforeTheAPIOpens(t *testing.T) {
	t.Parallel()
	database := services.Postgres(t)
	first := start(t, map[string]string{"WAYPOST_DATABASE_URL": database, "WAYPOST_STALE_BOUND": "10s"})
	first.awaitReady()
	edge := feed.Member{ID: "eu", Boot: "b"}
	heads := first.probe(feed.Probe{Member: edge})
	second := start(t, map[string]string{
		"WAYPOST_DATABASE_URL": database, "WAYPOST_DOMAINS": "new.example", "WAYPOST_STALE_BOUND": "10s",
	})
	second.keyFile = first.keyFile
	var after *feed.Heads
	second.await("the domain to be committed", func() bool {
		status, body := second.call("GET", second.internal+"/v1/heads", "", "secret")
		if status != 200 {
			return false
		}
		var err error
		after, err = feed.ParseHeads(body)
		return err == nil && after.Seq[feed.ConfigShard] > heads.Seq[feed.ConfigShard]
	})
	if status, _ := second.call("GET", second.public+"/api/v1/links", "", second.adminKey()); status != 503 {
		t.Errorf("status %d while an edge does not know the domain, want 503", status)
	}
	probe := feed.Probe{Member: edge, Epoch: after.Epoch, Applied: after.Seq}
	second.probe(probe)
	second.await("the API to open", func() bool {
		status, _ := second.call("GET", second.public+"/api/v1/links", "", second.adminKey())
		return status == 200
	})
}

// large is a domain that takes room.
const large = "large.example"

// fill makes the row of that domain so large that only so many bytes are left of
// what domains and blocks may have together.
func fill(t *testing.T, store *postgres.Store, left int) {
	t.Helper()
	const room = 7 << 19
	name, begin, end := feed.DomainRow(large), `{"host":"`+large+`","home_url":"`, `"}`
	row := begin + strings.Repeat("x", room-left-len(name)-len(begin)-len(end)) + end
	wrote, err := store.WriteConfig(t.Context(), []links.ConfigMutation{{
		Row: name, Merge: func(*links.ConfigRow, time.Time) (string, error) { return row, nil },
	}})
	if err != nil || wrote[0].Err != nil {
		t.Fatalf("WriteConfig: %v, %v", err, wrote[0].Err)
	}
}

func TestADomainWithoutRoomDoesNotKeepAnOriginFromServing(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	fill(t, migrated(t, url), 0)
	o := start(t, map[string]string{"WAYPOST_DATABASE_URL": url, "WAYPOST_DOMAINS": "go.example," + large})
	o.awaitReady()
	for host, want := range map[string]int{"go.example": 404, large: 200} {
		if status, body := o.call("GET", o.public+"/api/v1/domains/"+host, "", o.adminKey()); status != want {
			t.Errorf("%s: %d %.200s, want %d", host, status, body, want)
		}
	}
	if told := o.stderr.String(); !strings.Contains(told, `"domain":"go.example"`) || strings.Contains(told, `"domain":"`+large) {
		t.Errorf("the log is\n%s\nwant go.example named, alone", told)
	}
}

func TestEpochBump(t *testing.T) {
	t.Parallel()
	database := services.Postgres(t)
	env := one("WAYPOST_DATABASE_URL", database)
	for _, want := range []string{"2\n", "3\n"} {
		var stdout bytes.Buffer
		if err := run(t.Context(), []string{"epoch", "bump"}, env, &stdout, io.Discard); err != nil || stdout.String() != want {
			t.Errorf("epoch bump = %q, %v, want %q", stdout.String(), err, want)
		}
	}
	o := start(t, map[string]string{"WAYPOST_DATABASE_URL": database})
	o.awaitReady()
	if heads := o.probe(feed.Probe{Member: feed.Member{ID: "eu", Boot: "b"}}); heads.Epoch != 3 {
		t.Errorf("epoch = %d, want 3", heads.Epoch)
	}
	if err := run(t.Context(), []string{"epoch", "bump"}, one("WAYPOST_DATABASE_URL", "postgres://"+nowhere+"/d"), io.Discard, io.Discard); exitCode(err, io.Discard) != 1 {
		t.Errorf("epoch bump without a database = %v, want exit 1", err)
	}
}
