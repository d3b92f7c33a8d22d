package l2

import (
	"testing"

	"waypost/shared/link"
)

// The braces keep a shard's keys in one slot of a cluster: what a lookup asks
// for is then one round trip to one node.
func TestKeysCarryTheirShardAsHashTag(t *testing.T) {
	t.Parallel()
	names := shardKeys("wp")
	for got, want := range map[string]string{
		names[17].value(link.Key{Domain: "short.example", Code: "abc"}): "wp:{s17}:v:short.example\x00abc",
		names[0].value(link.Key{Code: "abc"}):                           "wp:{s0}:v:\x00abc",
		names[17].filter:                                                "wp:{s17}:f",
		names[63].build:                                                 "wp:{s63}:b",
	} {
		if got != want {
			t.Errorf("key: got %q, want %q", got, want)
		}
	}
}
