package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"waypost/bench/fleet"
	"waypost/shared/failpoint"
)

func TestTwentyCallsOfOneNameThroughTwoOriginsMakeOneLink(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{Origins: 2})
	apis := []*fleet.API{f.APIOf(t, f.Origins[0]), f.APIOf(t, f.Origins[1])}
	body := fleet.Fields{"target": targetOf("once", 0), "tags": []string{"once"}}
	answers := make([]fleet.Answer, 20)
	var calls sync.WaitGroup
	for i := range answers {
		calls.Go(func() {
			var err error
			if answers[i], err = apis[i%2].DoOnce(t.Context(), "once", http.MethodPost, "/links", body); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	made := 0
	for i, a := range answers {
		if a.Status != http.StatusCreated || !bytes.Equal(a.Body, answers[0].Body) || a.Header.Get("ETag") != answers[0].Header.Get("ETag") {
			t.Errorf("answer %d: %d %s, want %s", i, a.Status, a.Body, answers[0].Body)
		}
		if a.Header.Get("Idempotency-Replayed") == "" {
			made++
		}
		if r, err := a.Receipt(); err != nil || r.Ack != "edges" || r.Acked != len(f.Edges) {
			t.Errorf("answer %d: receipt %+v, %v, want all of %d edges", i, r, err, len(f.Edges))
		}
	}
	if made != 1 {
		t.Errorf("%d answers of a call that was carried out, want 1", made)
	}
	onlyLink(t, f, apis[0], "once", answers[0].Body)
}

// onlyLink checks that one link has the tag, the one that was answered, and that every edge leads to its target.
func onlyLink(t *testing.T, f *fleet.Fleet, api *fleet.API, tag string, answer []byte) {
	t.Helper()
	var l fleet.Link
	if err := json.Unmarshal(answer, &l); err != nil {
		t.Fatalf("answer %s: %v", answer, err)
	}
	if codes, _, err := api.List(t.Context(), "tag="+tag); err != nil || len(codes) != 1 || codes[0] != l.Code {
		t.Errorf("links with the tag %s: %v, %v, want %s", tag, codes, err, l.Code)
	}
	for _, e := range f.Edges {
		if err := leads(e.Get(t, l.Path()), l.Target); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
}

// Whenever the origin dies, the client cannot know whether there is a link; sent again, the call has made one.
func TestACallWhoseOriginIsKilledMakesOneLink(t *testing.T) {
	t.Parallel()
	spec := calm(fleet.Spec{Origins: 2, Failpoints: true})
	spec.Binaries = armable
	f := fleet.Start(t, spec)
	for i, tt := range []struct {
		moment failpoint.Point
		made   bool // by then
	}{{failpoint.BeforeCommit, false}, {failpoint.BeforePublish, true}, {failpoint.BeforeAnswer, true}} {
		dies, lives := f.Origins[i%2], f.APIOf(t, f.Origins[(i+1)%2])
		tag := string(tt.moment)
		body := fleet.Fields{"target": targetOf(tag, i), "tags": []string{tag}}
		api := f.APIOf(t, dies)
		dies.Arm(t, tt.moment, failpoint.Kill)
		if answer, err := api.DoOnce(t.Context(), tag, http.MethodPost, "/links", body); err == nil {
			t.Fatalf("%s: answered with %d %s, want the origin killed", tag, answer.Status, answer.Body)
		}
		dies.AwaitEnd(t)
		answer, err := lives.DoOnce(t.Context(), tag, http.MethodPost, "/links", body)
		r := wrote(t, answer, err)
		if replayed := answer.Header.Get("Idempotency-Replayed") == "true"; replayed != tt.made {
			t.Errorf("%s: replayed %v, want %v", tag, replayed, tt.made)
		}
		if r.Ack != "edges" || r.Acked != len(f.Edges) {
			t.Errorf("%s: receipt %+v, want all of %d edges", tag, r, len(f.Edges))
		}
		onlyLink(t, f, lives, tag, answer.Body)
		dies.Start(t)
		again, err := f.APIOf(t, dies).DoOnce(t.Context(), tag, http.MethodPost, "/links", body)
		if wrote(t, again, err); !bytes.Equal(again.Body, answer.Body) {
			t.Errorf("%s: the origin, started again, answers %s, want %s", tag, again.Body, answer.Body)
		}
	}
}

// The first transaction of the bulk is committed, the second is not.
func TestAHalfDoneBulkIsDoneOnce(t *testing.T) {
	t.Parallel()
	spec := calm(fleet.Spec{Origins: 2, Failpoints: true})
	spec.Binaries = armable
	f := fleet.Start(t, spec)
	dies, lives := f.Origins[0], f.APIOf(t, f.Origins[1])
	const n = 300
	items := make([]fleet.Fields, n)
	for i := range items {
		items[i] = fleet.Fields{"target": targetOf("bulk", i), "owner": "bulk"}
	}
	body := fleet.Fields{"items": items}
	dies.Arm(t, failpoint.BeforeCommit, failpoint.Stop)
	api := f.APIOf(t, dies)
	failed := make(chan error, 1)
	go func() {
		_, err := api.DoOnce(t.Context(), "bulk", http.MethodPost, "/links/bulk", body)
		failed <- err
	}()
	dies.AwaitHit(t, failpoint.BeforeCommit)
	dies.Arm(t, failpoint.BeforeCommit, failpoint.Kill)
	dies.Resume()
	if err := <-failed; err == nil {
		t.Fatal("the bulk was answered, want its origin killed")
	}
	dies.AwaitEnd(t)
	before := codesOf(t, lives, "owner=bulk")
	if len(before) == 0 || len(before) == n {
		t.Fatalf("%d links are there, want some of %d", len(before), n)
	}
	answer, err := lives.DoOnce(t.Context(), "bulk", http.MethodPost, "/links/bulk", body)
	wrote(t, answer, err)
	var results struct {
		Results []struct {
			Status int
			Link   fleet.Link
		}
	}
	if err := json.Unmarshal(answer.Body, &results); err != nil || len(results.Results) != n {
		t.Fatalf("%d results, %v, want %d", len(results.Results), err, n)
	}
	answered := map[string]bool{}
	for i, r := range results.Results {
		if r.Status != http.StatusCreated || r.Link.Target != targetOf("bulk", i) {
			t.Errorf("item %d: %d to %q, want 201 to %q", i, r.Status, r.Link.Target, targetOf("bulk", i))
		}
		answered[r.Link.Code] = true
	}
	for _, code := range before {
		if !answered[code] {
			t.Errorf("the link %s of the first try was not answered", code)
		}
	}
	if after := codesOf(t, lives, "owner=bulk"); len(after) != n {
		t.Errorf("%d links, want %d", len(after), n)
	}
	again, err := lives.DoOnce(t.Context(), "bulk", http.MethodPost, "/links/bulk", body)
	if wrote(t, again, err); !bytes.Equal(again.Body, answer.Body) || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("sent a third time it is answered otherwise")
	}
	dies.Start(t)
}

// codesOf lists the codes of all links that a query chooses.
func codesOf(t *testing.T, api *fleet.API, query string) (codes []string) {
	t.Helper()
	for cursor := ""; ; {
		page, next, err := api.List(t.Context(), fmt.Sprintf("%s&limit=100&cursor=%s", query, cursor))
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, page...)
		if cursor = next; next == "" {
			return codes
		}
	}
}
