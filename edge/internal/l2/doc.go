// Package l2 is the tier that the edges of one region share: link values and a
// Bloom filter of each shard in the region's Redis.
//
// Nothing in Redis is believed for being there: values and a filter's "no" are
// entries with a position, which the caller judges by the floors (feed.View).
// Redis may therefore lose, repeat or resurrect anything at any time, and any
// number of edges may write the same keys: that costs misses, never a wrong
// answer.
package l2
