package l2

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// origin is the truth in memory: it hands out changes and codes as the real
// one does, in small pages, and its changes reach the edges that joined.
type origin struct {
	mu     sync.Mutex
	epoch  uint64
	page   int    // keys of one Codes answer
	kept   uint64 // changes that Changes still has of each shard; 0 = all
	down   bool   // Changes and Codes fail
	log    [feed.Shards][]*feed.Change
	keys   [feed.Shards][]link.Key // sorted
	edges  []*edge
	asked  int    // calls of Codes
	behind func() // called between two pages
}

var errDown = errors.New("origin is down")

func newOrigin() *origin { return &origin{epoch: 1, page: 50} }

// join puts the edge at the present heads and lets it have what follows.
func (o *origin) join(e *edge) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for shard := range o.log {
		e.table.Reset(shard, o.epoch, uint64(len(o.log[shard])))
	}
	o.edges = append(o.edges, e)
}

// create makes a key; every edge has applied it when it returns.
func (o *origin) create(key link.Key) *feed.Change { return o.write(key, feed.Create, live) }

// live is the body of a link.
func live() feed.Body {
	return feed.Body{State: feed.Enabled, LinkID: 1, Status: 302, Target: "https://example.org/"}
}

func (o *origin) write(key link.Key, kind feed.Kind, body func() feed.Body) *feed.Change {
	o.mu.Lock()
	defer o.mu.Unlock()
	shard := feed.Shard(key.Hash())
	c := &feed.Change{Epoch: o.epoch, Shard: shard, Seq: uint64(len(o.log[shard])) + 1, Kind: kind, Key: key}
	if kind == feed.Create || kind == feed.Changed {
		b := body()
		c.Value = string(b.Append(nil))
	}
	o.log[shard] = append(o.log[shard], c)
	if at, found := slices.BinarySearchFunc(o.keys[shard], key, compare); !found {
		o.keys[shard] = slices.Insert(o.keys[shard], at, key)
	}
	for _, e := range o.edges {
		if e.table.Apply(c) == feed.Applied {
			e.Applied(c)
		}
	}
	return c
}

func compare(a, b link.Key) int { return strings.Compare(a.String(), b.String()) }

// bump begins a new epoch; the edges hear of it.
func (o *origin) bump() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.epoch++
	for _, e := range o.edges {
		for shard := range o.log {
			e.table.Reset(shard, o.epoch, uint64(len(o.log[shard])))
		}
	}
}

func (o *origin) set(change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change()
}

func (o *origin) heads() (epoch uint64, heads [feed.Shards]uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for shard := range heads {
		heads[shard] = uint64(len(o.log[shard]))
	}
	return o.epoch, heads
}

func (o *origin) codesAsked() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked
}

func (o *origin) Changes(_ context.Context, shard int, epoch, from uint64) (*feed.Changes, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.down {
		return nil, errDown
	}
	head := uint64(len(o.log[shard]))
	a := &feed.Changes{Epoch: o.epoch, Shard: shard, Head: head}
	if epoch != o.epoch || from > head || o.kept != 0 && from+o.kept < head {
		a.Reset = true
		return a, nil
	}
	a.Rows = o.log[shard][from:min(head, from+feed.MaxChanges)]
	return a, nil
}

func (o *origin) Codes(_ context.Context, shard int, after link.Key) (*feed.Codes, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked++
	if o.down {
		return nil, errDown
	}
	keys := o.keys[shard]
	if after != (link.Key{}) {
		at, found := slices.BinarySearchFunc(keys, after, compare)
		if found {
			at++
		}
		keys = keys[at:]
		if o.behind != nil {
			o.mu.Unlock()
			o.behind()
			o.mu.Lock()
			keys = slices.DeleteFunc(slices.Clone(o.keys[shard]), func(k link.Key) bool { return compare(k, after) <= 0 })
		}
	}
	page := &feed.Codes{Epoch: o.epoch, Head: uint64(len(o.log[shard])), More: len(keys) > o.page}
	for _, key := range keys[:min(len(keys), o.page)] {
		page.Hashes = append(page.Hashes, key.Hash())
		page.Last = key
	}
	return page, nil
}
