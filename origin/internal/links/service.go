package links

import (
	"context"
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// The code generators.
const (
	KindRandom    = "random"
	KindSnowflake = "snowflake"
	KindCounter   = "counter"
)

// store is the truth. Its errors are the words of package link; anything else
// is a fault.
type store interface {
	Write(ctx context.Context, ms []Mutation) ([]Result, error)
	Link(ctx context.Context, key link.Key) (link.Link, error)
	List(ctx context.Context, f Filter) (Page, error)
}

// purgeStore gives links a new position and leaves them as they are.
type purgeStore interface {
	// Purge is for rows that exist; results of others have link.ErrNotFound.
	Purge(ctx context.Context, keys []link.Key) ([]Result, error)
	PurgeAll(ctx context.Context) ([]*feed.Change, error)
	// KeysByTag lists at most limit keys after one, in their order; owner nil
	// stands for all owners.
	KeysByTag(ctx context.Context, owner *string, tag string, after link.Key, limit int) ([]link.Key, error)
}

// recordStore tells what was written before.
type recordStore interface {
	// Answered returns one result for each: empty, if nothing was carried out;
	// Replayed; or with ErrOtherRequest.
	Answered(ctx context.Context, asked []Once) ([]Result, error)
	// History is link.ErrNotFound if there never was such a key.
	History(ctx context.Context, key link.Key, w Window) (Past, error)
}

// codeSource makes codes that are neither reserved nor ever repeated by it.
type codeSource interface {
	Next(ctx context.Context, kind string) (string, error)
}

// publisher tells edges of committed changes. It loses what it cannot send:
// edges find the loss and ask.
type publisher interface {
	Publish(changes []*feed.Change)
}

// Service is what can be done with links, and by whom. It holds no state of its
// own and is safe for concurrent use.
type Service struct {
	store      store
	purges     purgeStore
	config     configStore
	known      configMemory // may be nil
	records    recordStore
	codes      codeSource
	publisher  publisher
	barrier    barrier
	publicHost string
	schemes    []string
}

// Deps is what a Service works with; all are required but Known and Schemes.
type Deps struct {
	Store     store
	Purges    purgeStore
	Config    configStore
	Known     configMemory
	Records   recordStore
	Codes     codeSource
	Publisher publisher
	Barrier   barrier

	// PublicHost is the host name that links of the default domain are reached
	// by, as link.ParseTarget compares hosts: no target may lead back to it.
	PublicHost string
	// Schemes are the schemes of targets besides http and https.
	Schemes []string
}

// New returns a Service.
func New(d Deps) *Service {
	return &Service{
		store: d.Store, purges: d.Purges, config: d.Config, known: d.Known, records: d.Records, codes: d.Codes,
		publisher: d.Publisher, barrier: d.Barrier,
		publicHost: d.PublicHost, schemes: d.Schemes,
	}
}

// writeTimeout bounds a write once it has begun, without the wait for edges.
const writeTimeout = 20 * time.Second

// write commits the mutations, publishes what they changed and waits for what
// ack asks for. A caller that goes away meanwhile does not stop it: what is
// committed must be published. The results follow those of before, which are
// waited for too.
func (s *Service) write(ctx context.Context, before []Result, ms []Mutation, ack Ack) ([]Result, Receipt, error) {
	if err := ctx.Err(); err != nil {
		return nil, Receipt{}, err
	}
	whole := context.WithoutCancel(ctx)
	ctx, cancel := context.WithTimeout(whole, writeTimeout)
	defer cancel()
	sp := s.spread(ack)
	results := before
	if len(ms) > 0 {
		written, err := s.store.Write(ctx, ms)
		if err != nil {
			return nil, Receipt{}, err
		}
		results = append(results, written...)
	}
	sp.publishResults(results)
	return results, sp.receipt(whole), nil
}

// writeOne is write for a single mutation, whose error it returns.
func (s *Service) writeOne(ctx context.Context, m Mutation, ack Ack) (Written, error) {
	results, receipt, err := s.write(ctx, nil, []Mutation{m}, ack)
	if err != nil {
		return Written{}, err
	}
	if err := results[0].Err; err != nil {
		return Written{}, err
	}
	return Written{Link: results[0].Link, Reused: results[0].Reused, Receipt: receipt}, nil
}

// Written is a link as a write left it.
type Written struct {
	Link     link.Link
	Reused   bool // found, not made
	Replayed bool // by an earlier call, see Once
	Receipt  Receipt
}
