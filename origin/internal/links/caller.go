package links

import (
	"errors"

	"waypost/shared/link"
)

// ErrOwner refuses a caller that is confined to one owner and asks to act for
// another. Links of others are not refused but hidden: link.ErrNotFound.
var ErrOwner = errors.New("key is confined to another owner")

// ErrAdmin refuses what only an admin key may do.
var ErrAdmin = errors.New("needs an admin key")

// Caller is on whose behalf a call is made.
type Caller struct {
	Owner string // "" = not confined: sees and changes everybody's links
	Admin bool
	Key   string // id of the API key, for the history; "" = none
}

// sees reports whether l exists for the caller.
func (c Caller) sees(l *link.Link) bool { return c.Owner == "" || c.Owner == l.Owner }

// mayOwn refuses to hand a link to somebody the caller does not act for.
func (c Caller) mayOwn(owner string) error {
	if c.Owner != "" && c.Owner != owner {
		return ErrOwner
	}
	return nil
}

// mayTake reports whether the caller's new link may take the alias of a deleted
// one: only for the owner it had, unless an admin says so.
func (c Caller) mayTake(deleted, created *link.Link) bool {
	return c.Admin || deleted.Owner == created.Owner
}
