package l2

import (
	"strconv"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// keys names the Redis keys of one shard: "<prefix>:{s17}:v:<key bytes>" for
// values, ":f" for the filter, ":b" for the lock of who builds it. The braces
// are Redis Cluster's hash tag: one shard's keys share a slot.
type keys struct {
	values string // without the key's bytes
	filter string
	build  string

	filterArg any // filter, as an argument that is made once
}

func shardKeys(prefix string) (all [feed.Shards]keys) {
	for shard := range all {
		tag := prefix + ":{s" + strconv.Itoa(shard) + "}:"
		all[shard] = keys{values: tag + "v:", filter: tag + "f", build: tag + "b", filterArg: tag + "f"}
	}
	return all
}

func (k *keys) value(key link.Key) string {
	var buf [256]byte
	return string(key.Append(append(buf[:0], k.values...)))
}
