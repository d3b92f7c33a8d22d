package main

import (
	"bytes"
	"encoding/binary"
	"testing"

	"waypost/deploy/services"
	"waypost/shared/click"
	"waypost/shared/feed"
)

func TestEdgesGetSaltsSendClicksAndTakeUses(t *testing.T) {
	t.Parallel()
	o := start(t, map[string]string{"WAYPOST_DATABASE_URL": services.Postgres(t)})
	o.awaitReady()
	if heads := o.probe(feed.Probe{Member: feed.Member{ID: "eu", Boot: "b"}}); len(heads.Salts) != 2 || heads.Salts[1].Day != heads.Salts[0].Day+1 {
		t.Errorf("a probe is answered with salts %v, want today's and tomorrow's", heads.Salts)
	}
	status, body := o.call("GET", o.internal+"/v1/heads", "", "secret")
	if heads, err := feed.ParseHeads(body); status != 200 || err != nil || heads.Salts != nil {
		t.Errorf("heads to look at: %d, %+v, %v, want no salts", status, heads, err)
	}

	status, body = o.call("POST", o.public+"/api/v1/links", `{"target":"https://example.com/secret","alias":"once","max_clicks":1}`, o.adminKey())
	if status != 201 {
		t.Fatalf("create: %d %s", status, body)
	}
	for i, want := range []feed.Verdict{feed.UseTaken, feed.UsedUp} {
		status, body := o.call("POST", o.internal+"/v1/use?code=once", "", "secret")
		u, err := feed.ParseUse(body)
		if status != 200 || err != nil || u.Verdict != want || (u.Entry.Target != "") != (want == feed.UseTaken) {
			t.Fatalf("use %d: %d, %+v, %v, want verdict %d", i, status, u, err, want)
		}
	}
	status, body = o.call("GET", o.internal+"/v1/fill?code=once&epoch=1&min=0", "", "secret")
	entry, err := feed.ParseEntry(body)
	if status != 200 || err != nil || !entry.Limited || entry.Target != "" {
		t.Fatalf("fill: %d, %+v, %v, want a limited entry without target", status, entry, err)
	}

	sent := &click.Stretch{Boot: "b", Region: "eu", To: 5, Links: []click.LinkClicks{{Link: entry.LinkID, Hours: []click.Hour{{Hour: 490_000, Clicks: 3}}}}}
	for d := range click.Dimension(click.Dimensions) {
		sent.Links[0].Hours[0].Parts = append(sent.Links[0].Hours[0].Parts, click.Part{Dimension: d, Clicks: 3})
	}
	for range 2 {
		status, body := o.call("POST", o.internal+"/v1/clicks", string(sent.Append(nil)), "secret")
		if status != 200 || len(body) != 8 || binary.BigEndian.Uint64(body) != 5 {
			t.Errorf("clicks: %d %x, want mark 5", status, body)
		}
	}
	_, body = o.call("GET", o.ops+"/metrics", "", "")
	for _, want := range []string{
		`waypost_clicks_applied_total 3`, `waypost_stretches_total{outcome="applied"} 1`, `waypost_stretches_total{outcome="repeated"} 1`,
	} {
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("metrics lack %s:\n%s", want, grep(body, "waypost_"))
		}
	}
}
