package clicks

import (
	"context"
	"errors"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/click"
	"waypost/shared/link"
)

// ErrConfined refuses what is about no owner's links to a caller who is confined
// to one.
var ErrConfined = errors.New("key is confined to an owner")

// linkStore keeps what is counted of links, by their ids, which are never used
// again: a code that is taken anew starts at zero. Errors of all stores are the
// words of package link; anything else is a fault.
type linkStore interface {
	// Counted is the link that clicks are counted for under a key: a deleted one
	// too, for as long as its counts are kept and nobody has taken its code.
	Counted(ctx context.Context, key link.Key) (link.Link, error)
	EraseClicks(ctx context.Context, id int64) error
}

// statsStore reads what is counted of a link.
type statsStore interface {
	// Stats of a link that nothing is known of are zeros.
	Stats(ctx context.Context, id int64, q Query) (Stats, error)
	// RecentClicks are newest first, at most click.MaxNewest.
	RecentClicks(ctx context.Context, id int64) ([]click.Recent, error)
}

// wideStore answers about more than one link.
type wideStore interface {
	// TopLinks have the most clicks on a day (midnight, UTC), most first and links
	// without any left out; owner nil stands for all owners.
	TopLinks(ctx context.Context, day time.Time, owner *string, limit int) ([]Ranked, error)
	// Orphans ascend by hour and region; hours without any are left out.
	Orphans(ctx context.Context, r Range) ([]Orphans, error)
}

type store interface {
	linkStore
	statsStore
	wideStore
}

// finder finds a link that there is for a caller. Errors: link.ErrNotFound, also
// for one of another owner; links.ErrDomain; link.ErrUnavailable.
type finder interface {
	Get(ctx context.Context, c links.Caller, key link.Key) (link.Link, error)
}

// Service is what can be learned of clicks, and by whom. It holds no state of
// its own and is safe for concurrent use.
type Service struct {
	store store
	links finder
	now   func() time.Time
}

// New returns a Service; now says which day it is.
func New(store store, links finder, now func() time.Time) *Service {
	return &Service{store: store, links: links, now: now}
}

// find returns the id of a link that the caller sees, or saw before it was
// deleted. Errors are those of finder.
func (s *Service) find(ctx context.Context, c links.Caller, key link.Key) (int64, error) {
	l, err := s.store.Counted(ctx, key)
	if err != nil && !errors.Is(err, link.ErrNotFound) {
		return 0, err
	}
	if err != nil || c.Owner != "" && c.Owner != l.Owner {
		l, err = s.links.Get(ctx, c, key) // which says more of what is not there
	}
	return l.ID, err
}

// Stats returns the statistics of a link, with every day of the range. Errors:
// *link.InvalidError, those of finding the link.
func (s *Service) Stats(ctx context.Context, c links.Caller, key link.Key, p Period) (Stats, error) {
	q, err := p.query(s.now(), maxDays)
	if err != nil {
		return Stats{}, err
	}
	id, err := s.find(ctx, c, key)
	if err != nil {
		return Stats{}, err
	}
	stats, err := s.store.Stats(ctx, id, q)
	if err != nil {
		return Stats{}, err
	}
	stats.fill()
	return stats, nil
}

// Recent returns the newest clicks of a link, newest first, at most limit and at
// most click.MaxNewest. Errors: those of finding the link.
func (s *Service) Recent(ctx context.Context, c links.Caller, key link.Key, limit int) ([]click.Recent, error) {
	id, err := s.find(ctx, c, key)
	if err != nil {
		return nil, err
	}
	newest, err := s.store.RecentClicks(ctx, id)
	if err != nil {
		return nil, err
	}
	return newest[:min(len(newest), limit)], nil
}

// Top returns the caller's links with the most clicks on a day, as Period.Day
// has it, most first. Errors: *link.InvalidError, link.ErrUnavailable.
func (s *Service) Top(ctx context.Context, c links.Caller, day string, limit int) ([]Ranked, error) {
	q, err := Period{Day: day}.query(s.now(), maxDays)
	if err != nil {
		return nil, err
	}
	var owner *string
	if c.Owner != "" {
		owner = &c.Owner
	}
	return s.store.TopLinks(ctx, q.Day, owner, limit)
}

// Erase deletes what is counted of a link, for admins. Clicks that edges have
// not sent yet are counted when they come. Errors: links.ErrAdmin, those of
// finding the link.
func (s *Service) Erase(ctx context.Context, c links.Caller, key link.Key) error {
	if !c.Admin {
		return links.ErrAdmin
	}
	id, err := s.find(ctx, c, key)
	if err != nil {
		return err
	}
	return s.store.EraseClicks(ctx, id)
}

// Orphans returns the requests for codes that do not exist by hour and region,
// ascending, with the range that was asked for, widened to whole hours. They are
// nobody's links: a caller who is confined to an owner is refused. Errors:
// ErrConfined, *link.InvalidError, link.ErrUnavailable.
func (s *Service) Orphans(ctx context.Context, c links.Caller, p Period) (Range, []Orphans, error) {
	if c.Owner != "" {
		return Range{}, nil, ErrConfined
	}
	q, err := p.query(s.now(), maxOrphanDays)
	if err != nil {
		return Range{}, nil, err
	}
	all, err := s.store.Orphans(ctx, q.Range)
	return q.Range, all, err
}
