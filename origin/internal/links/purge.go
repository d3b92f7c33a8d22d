package links

import (
	"context"
	"errors"

	"waypost/shared/link"
)

// MaxPurge is the largest number of links that one call names to purge.
const MaxPurge = 1000

// Purged is what became of a purge: every edge must load those links anew.
type Purged struct {
	Links   int        // that there are; not counted where all were purged
	Missing []link.Key // named, and not links that the caller sees
	Receipt Receipt
}

// Purge makes edges load these links anew, of which there are at most MaxPurge,
// without repeats. It changes nothing about them. Error: link.ErrUnavailable.
func (s *Service) Purge(ctx context.Context, c Caller, keys []link.Key, ack Ack) (Purged, error) {
	sp := s.spread(ack)
	var p Purged
	var mine []link.Key
	for _, key := range keys {
		ok, err := s.mayPurge(ctx, c, key)
		switch {
		case err != nil:
			return Purged{}, err
		case ok:
			mine = append(mine, key)
		default:
			p.Missing = append(p.Missing, key)
		}
	}
	missing, err := s.purge(ctx, sp, mine)
	if err != nil {
		return Purged{}, err
	}
	p.Links, p.Missing = len(mine)-len(missing), append(p.Missing, missing...)
	p.Receipt = sp.receipt(ctx)
	return p, nil
}

// mayPurge asks whose link it is only for callers who do not see all.
func (s *Service) mayPurge(ctx context.Context, c Caller, key link.Key) (bool, error) {
	if c.Owner == "" {
		return true, nil
	}
	_, err := s.Get(ctx, c, key)
	if errors.Is(err, link.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// purge purges keys in one write and returns those that do not exist.
func (s *Service) purge(ctx context.Context, sp *spread, keys []link.Key) (missing []link.Key, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	results, err := s.purges.Purge(ctx, keys)
	if err != nil {
		return nil, err
	}
	sp.publishResults(results)
	for i, r := range results {
		switch {
		case errors.Is(r.Err, link.ErrNotFound):
			missing = append(missing, keys[i])
		case r.Err != nil:
			return nil, r.Err
		}
	}
	return missing, nil
}

// PurgeTag is Purge for every link of the caller with the tag. It goes through
// them in pages, so a link that gets or loses the tag meanwhile may be missed;
// cut short by its context it has purged some and may be repeated. Errors:
// *link.InvalidError, link.ErrUnavailable.
func (s *Service) PurgeTag(ctx context.Context, c Caller, tag string, ack Ack) (Purged, error) {
	if _, err := parseTags([]string{tag}); err != nil {
		return Purged{}, faults{{Field: "tag", Reason: "is not a tag that links have"}}.err()
	}
	var owner *string
	if c.Owner != "" {
		owner = &c.Owner
	}
	sp := s.spread(ack)
	var p Purged
	var after link.Key
	for {
		keys, err := s.purges.KeysByTag(ctx, owner, tag, after, MaxPurge)
		if err != nil {
			return Purged{}, err
		}
		missing, err := s.purge(ctx, sp, keys)
		if err != nil {
			return Purged{}, err
		}
		p.Links += len(keys) - len(missing)
		if len(keys) < MaxPurge {
			break
		}
		after = keys[len(keys)-1]
	}
	p.Receipt = sp.receipt(ctx)
	return p, nil
}

// PurgeAll is Purge for all links there are. Errors: ErrAdmin,
// link.ErrUnavailable.
func (s *Service) PurgeAll(ctx context.Context, c Caller, ack Ack) (Purged, error) {
	if !c.Admin {
		return Purged{}, ErrAdmin
	}
	sp := s.spread(ack)
	changes, err := s.purges.PurgeAll(ctx)
	if err != nil {
		return Purged{}, err
	}
	sp.publish(changes)
	return Purged{Receipt: sp.receipt(ctx)}, nil
}
