package postgres_test

import (
	"strconv"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// sameShard returns n other keys of the shard of key.
func sameShard(key link.Key, n int) []link.Key {
	var keys []link.Key
	for i := 0; len(keys) < n; i++ {
		k := link.Key{Domain: key.Domain, Code: key.Code + strconv.Itoa(i)}
		if feed.Shard(k.Hash()) == feed.Shard(key.Hash()) {
			keys = append(keys, k)
		}
	}
	return keys
}

// keyOfShard returns a key of the shard.
func keyOfShard(shard int) link.Key {
	for i := 0; ; i++ {
		if k := (link.Key{Code: strconv.Itoa(i)}); feed.Shard(k.Hash()) == shard {
			return k
		}
	}
}
