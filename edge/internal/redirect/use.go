package redirect

import (
	"context"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// Use asks the origin for one use of a limited link, past all caches: a use is
// taken at most once, and only there. It is never sent twice. The answer is
// judged by the floors loaded before it was asked for, and its lease is the
// moment of asking, since whatever the origin read it read later. Of the entry
// nothing is kept but its version, so that this edge never goes back in time.
// Errors: ErrUnready; link.ErrUnavailable when the origin did not answer in
// time, or from behind what is known here; then the use may be lost.
func (r *Resolver) Use(ctx context.Context, key link.Key, hash uint64) (feed.Verdict, Answer, error) {
	view, ok := r.table.View(hash)
	if !ok {
		return 0, Answer{}, ErrUnready
	}
	limit := r.limit
	if !r.leased(view.Lease) {
		limit = min(limit, degradedLimit)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// One bound for all that is asked of the origins, of which uses get half: a
	// limited link that many want at once must not keep others from being filled.
	for _, places := range [...]chan struct{}{r.uses, r.fills.places} {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		case <-ctx.Done():
			return 0, Answer{}, link.ErrUnavailable
		}
	}
	asked := r.clock()
	used, err := r.use(ctx, key)
	if err != nil {
		return 0, Answer{}, err
	}
	if !view.Accept(used.Entry) {
		if used.Entry.Epoch > view.Epoch {
			r.newer()
		}
		return 0, Answer{}, link.ErrUnavailable
	}
	return used.Verdict, Answer{Entry: used.Entry, Tier: Origin, Lease: asked}, nil
}
