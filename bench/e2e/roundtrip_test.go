package e2e

import (
	"fmt"
	"slices"
	"testing"

	"waypost/bench/fleet"
)

// Both edges share a Redis and reach it through a proxy each, which counts round trips. Settling and the look at the
// filters go the same way, so single counts may be too high; the middle one of many is not.
func TestRedisRoundTripsOfAHit(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{
		Edges: []string{"eu", "eu"}, ProxyRedis: true,
		EdgeEnv: map[string]string{"WAYPOST_LIMIT_MODE": "async", "WAYPOST_LIMIT_RATE": "100000", "WAYPOST_LIMIT_BURST": "100000"},
	})
	f.AwaitFilters(t)
	const n = 41
	writer, reader, trips := f.Edges[0], f.Edges[1], f.RedisProxies[1]
	links := numbered(t, f.API(t), "trips", n)
	f.Settle(t)
	allLead(t, writer, 4, links)
	awaitStored(t, redisOf(t, f.Redis["eu"]), links)
	conn := reader.Dial(t)
	if _, err := conn.Ask(fleet.Request{Path: "/" + unknownCode()}); err != nil { // its connection to Redis is made
		t.Fatal(err)
	}

	for _, tier := range []struct {
		name  string
		trips int64
	}{{"l2", 1}, {"l1", 0}} {
		var counts []int64
		for _, l := range links {
			before := trips.RoundTrips()
			r, err := conn.Ask(fleet.Request{Path: l.Path()})
			counts = append(counts, trips.RoundTrips()-before)
			if err == nil {
				err = leads(r, l.Target)
			}
			if err == nil && r.Tier() != tier.name {
				err = fmt.Errorf("answered by %q, want %q", r.Tier(), tier.name)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(counts)
		if counts[0] != tier.trips || counts[n/2] != tier.trips {
			t.Errorf("a hit in %s: %v round trips, want %d", tier.name, counts, tier.trips)
		}
	}
}
