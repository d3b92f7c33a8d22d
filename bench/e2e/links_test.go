package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"waypost/bench/fleet"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// numbered makes n links, of which the i-th leads to targetOf(name, i).
func numbered(t *testing.T, api *fleet.API, name string, n int) []fleet.Link {
	t.Helper()
	return api.MustBulk(t, n, func(i int) fleet.Fields { return fleet.Fields{"target": targetOf(name, i)} })
}

func targetOf(name string, i int) string { return fmt.Sprintf("https://example.com/%s/%d", name, i) }

// leads says why a reply is no 302 to target.
func leads(r fleet.Reply, target string) error {
	if r.Status != http.StatusFound || r.Location() != target {
		return fmt.Errorf("got %d to %q (%s), want 302 to %q", r.Status, r.Location(), r.Header.Get("Cache-Status"), target)
	}
	return nil
}

// isStatus says why a reply has another status, or a Location.
func isStatus(r fleet.Reply, want int) error {
	if r.Status != want || r.Location() != "" {
		return fmt.Errorf("got %d to %q (%s), want %d", r.Status, r.Location(), r.Header.Get("Cache-Status"), want)
	}
	return nil
}

// allLead reads all links at an edge over conns connections.
func allLead(t *testing.T, e *fleet.Edge, conns int, links []fleet.Link) {
	t.Helper()
	noErrors(t, e.Run(t.Context(), fleet.Load{
		Conns: min(conns, len(links)), N: len(links),
		Request: func(i int) fleet.Request { return fleet.Request{Path: links[i].Path()} },
		Check:   func(i int, r fleet.Reply) error { return leads(r, links[i].Target) },
	}))
}

// atEvery runs do for every edge at once.
func atEvery(edges []*fleet.Edge, do func(e *fleet.Edge)) {
	var all sync.WaitGroup
	for _, e := range edges {
		all.Go(func() { do(e) })
	}
	all.Wait()
}

const base62 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// unknownCode is a code that no link has: one of 62^9, where a test has some ten thousand.
func unknownCode() string {
	b := make([]byte, 9)
	for i := range b {
		b[i] = base62[rand.N(len(base62))]
	}
	return string(b)
}

// unknownIn is an unknown code of a shard.
func unknownIn(shard int) string {
	for {
		if code := unknownCode(); feed.Shard(link.Key{Code: code}.Hash()) == shard {
			return code
		}
	}
}
