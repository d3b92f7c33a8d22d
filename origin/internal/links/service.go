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

// configStore knows what is on the config shard: the registered domains.
type configStore interface {
	Config(ctx context.Context) (*feed.Config, error)
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
	config     configStore
	codes      codeSource
	publisher  publisher
	publicHost string
	schemes    []string
}

// Deps is what a Service works with; all are required but Schemes.
type Deps struct {
	Store     store
	Config    configStore
	Codes     codeSource
	Publisher publisher

	// PublicHost is the host name that links of the default domain are reached
	// by, as link.ParseTarget compares hosts: no target may lead back to it.
	PublicHost string
	// Schemes are the schemes of targets besides http and https.
	Schemes []string
}

// New returns a Service.
func New(d Deps) *Service {
	return &Service{
		store: d.Store, config: d.Config, codes: d.Codes, publisher: d.Publisher,
		publicHost: d.PublicHost, schemes: d.Schemes,
	}
}

// Receipt says how far a write got before it was answered.
type Receipt struct {
	Ack   string        // AckCommit
	Edges int           // edges that were asked to confirm
	Acked int           // edges known to have the change
	Took  time.Duration // from the call to the answer
}

// AckCommit says that PostgreSQL has committed the write, and nothing about
// edges.
const AckCommit = "commit"

// writeTimeout bounds a write once it has begun.
const writeTimeout = 20 * time.Second

// write commits the mutations and publishes what they changed. A caller that
// goes away meanwhile does not stop it: what is committed must be published.
func (s *Service) write(ctx context.Context, ms []Mutation) ([]Result, Receipt, error) {
	if err := ctx.Err(); err != nil {
		return nil, Receipt{}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	start := time.Now()
	results, err := s.store.Write(ctx, ms)
	if err != nil {
		return nil, Receipt{}, err
	}
	var changes []*feed.Change
	for i := range results {
		if results[i].Change != nil {
			changes = append(changes, results[i].Change)
		}
	}
	if len(changes) > 0 {
		s.publisher.Publish(changes)
	}
	return results, Receipt{Ack: AckCommit, Took: time.Since(start)}, nil
}

// writeOne is write for a single mutation, whose error it returns.
func (s *Service) writeOne(ctx context.Context, m Mutation) (Written, error) {
	results, receipt, err := s.write(ctx, []Mutation{m})
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
	Link    link.Link
	Reused  bool // found, not made
	Receipt Receipt
}
