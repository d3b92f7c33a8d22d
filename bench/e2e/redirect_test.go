package e2e

import (
	"context"
	"testing"

	"waypost/bench/fleet"
)

// Both files are played on one fleet, one case after the other: Settle compares sums over all shards.
//
//nolint:tparallel // see above
func TestRedirectCases(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{OriginEnv: map[string]string{"WAYPOST_DOMAINS": "go.example,köln.example"}})
	api := f.API(t)
	for _, file := range []string{"redirect.jsonl", "more.jsonl"} {
		t.Run(file, func(t *testing.T) {
			for _, c := range readCases(t, "testdata/"+file) {
				t.Run(c.Name, func(t *testing.T) { c.run(t, f, api) })
			}
		})
	}
}

// contextOf is the test's context for its cleanups, where t.Context has ended already.
func contextOf(t *testing.T) context.Context {
	t.Helper()
	return context.WithoutCancel(t.Context())
}
