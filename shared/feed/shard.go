package feed

import "strconv"

// Shards is the number of shards that links are spread over. Each has a
// gap-free counter of positions.
const Shards = 64

// ConfigShard is the shard that carries domains and what else every edge needs.
const ConfigShard = Shards

// AllShards counts the link shards and the config shard.
const AllShards = Shards + 1

// Shard is the link shard of a key with this hash (link.Key.Hash).
func Shard(hash uint64) int { return int(hash % Shards) }

// Subject is the NATS subject on which the changes of a shard are published.
func Subject(prefix string, shard int) string {
	return prefix + ".feed." + strconv.Itoa(shard)
}

// SubjectAll matches Subject of every shard.
func SubjectAll(prefix string) string { return prefix + ".feed.*" }
