package l2

import (
	"context"
	"fmt"

	"waypost/shared/bloom"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// Result is what the region knows of a key. Both may be nil; neither is
// judged yet.
type Result struct {
	Entry  *feed.Entry // the value held; nil: none, damaged or of another key
	Absent *feed.Entry // the filter's "no" at the filter's position; nil: "maybe", or Entry is newer
}

// Lookup asks for a key's value and its bits of the filter in one pipelined
// round trip; hash is the key's. It takes at most Config.Timeout, which the end of
// ctx does not shorten once it has begun. Errors:
// ErrSkipped at once while the breaker is open; else Redis's, and the result is
// empty. A fault of one of the two answers costs that answer only.
func (c *Cache) Lookup(ctx context.Context, key link.Key, hash uint64) (Result, error) {
	c.count.lookups.Add(1)
	probe, ok := c.breaker.enter()
	if !ok {
		c.count.skipped.Add(1)
		return Result{}, ErrSkipped
	}
	r, sent, err := c.lookup(ctx, key, hash)
	switch {
	case err == nil:
		c.breaker.leave(probe, answered, nil)
	case ctx.Err() != nil, !sent: // who sent the same pipeline tells
		c.breaker.leave(probe, unknown, err)
	default:
		c.breaker.leave(probe, failed, err)
	}
	if err != nil {
		c.count.faults.Add(1)
		return Result{}, fmt.Errorf("l2 lookup %s: %w", key, err)
	}
	if r.Entry != nil {
		c.count.hits.Add(1)
	}
	if r.Absent != nil {
		c.count.negatives.Add(1)
	}
	return r, nil
}

// lookup is Lookup without the breaker; sent says whether it was this one that asked
// Redis, for itself and perhaps for others.
func (c *Cache) lookup(ctx context.Context, key link.Key, hash uint64) (r Result, sent bool, err error) {
	if err := ctx.Err(); err != nil {
		return Result{}, false, err
	}
	shard := feed.Shard(hash)
	names, seen := &c.keys[shard], c.filters[shard].known()
	asked, ok := c.questions.Get().(*question)
	if !ok {
		asked = newQuestion()
	}
	defer c.questions.Put(asked) // ask waits for whoever reads it
	asked.about(ctx, names.value(key), names.filterArg, hash, seen)
	sent = c.gatherings[shard%len(c.gatherings)].ask(ctx, asked)

	valueFault, filterFault := serverFault(asked.value.Err()), serverFault(asked.filter.Err())
	for _, fault := range []error{valueFault, filterFault} {
		if fault != nil && (!isReply(fault) || valueFault != nil && filterFault != nil) {
			return Result{}, sent, fault
		}
	}
	if asked.value.Err() == nil {
		r.Entry = parseValue(asked.value.Val(), key)
	}
	if filterFault == nil { // another type's key is no filter
		r.Absent = c.no(key, hash, seen, asked.filter.Val(), r.Entry)
	}
	return r, sent, nil
}

// parseValue is nil for bytes of another format, damage, and another key's
// entry.
func parseValue(b string, key link.Key) *feed.Entry {
	e, err := feed.ParseEntry(b)
	if err != nil || e.Key != key {
		return nil
	}
	return e
}

// no is the filter's negative answer as an entry, nil for "maybe". read is what
// a question about the hash, with the header that was seen, has read.
func (c *Cache) no(key link.Key, hash uint64, seen bloom.Header, read []int64, held *feed.Entry) *feed.Entry {
	shard := feed.Shard(hash)
	f := &c.filters[shard]
	h, words, err := answer(read, seen)
	switch {
	case err != nil:
		f.forget()
		c.suspect(shard)
		return nil
	case len(read) == readAll:
		f.learn(h)
		if h.Shape != seen.Shape {
			return nil
		}
	case h.Generation != seen.Generation:
		f.forget()
		return nil
	}
	in := true
	for i, place := range seen.Places(hash) {
		if !words[i].Whole() {
			f.distrust(h.Generation)
			c.suspect(shard)
			return nil
		}
		in = in && place.In(words[i])
	}
	if in || !f.trusts(h.Generation) {
		return nil
	}
	absent := &feed.Entry{Epoch: h.Epoch, AsOf: h.Position, Key: key}
	switch {
	case held == nil:
		return absent
	case held.Epoch == h.Epoch && held.Version > 0 && held.Version <= h.Position:
		// The key was made no later than its version: the filter has lost it.
		f.distrust(h.Generation)
		c.count.distrusts.Add(1)
		c.suspect(shard)
		return nil
	case held.Newer(absent):
		return nil
	}
	return absent
}
