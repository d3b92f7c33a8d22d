package links

import (
	"context"
	"errors"
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// ErrNoCode reports that every code that was generated for a link is taken, as
// many as a store tries.
var ErrNoCode = errors.New("all generated codes are taken")

// Mutation is one wished change of one key. Mutations of one write stand or
// fail each for itself.
type Mutation struct {
	// Key is the key to write. Where Generate is set, its Code is empty and the
	// store asks for one, and for another as long as it is taken.
	Key      link.Key
	Generate func(ctx context.Context) (string, error)

	// Merge decides what becomes of the key, under the lock of its shard. old is
	// nil if there never was a row and may be a tombstone (DeletedAt set); now is
	// PostgreSQL's clock. It returns the new content (DeletedAt set to delete),
	// or the error that fails this mutation: link.ErrNotFound, ErrTaken,
	// ErrMismatch or an *link.InvalidError. It must not keep or change old, and
	// may be called again after a lost race. ID, Key, CreatedAt, UpdatedAt and
	// Version of what it returns are the store's to set.
	Merge func(old *link.Link, now time.Time) (*link.Link, error)

	// Reuse asks for a live link of the same domain, owner, target and options,
	// without expiry and start, before one is made. It goes with Generate.
	Reuse bool

	// Once, if it is not nil, lets the mutation succeed once: to be carried out
	// again, it gets the result that it had, whatever was done since. One of a
	// call that was spent on another request fails with ErrOtherRequest.
	Once *Once

	// Under is the position of the config that Merge holds the link against, if it
	// is to be written only as long as the config is that one: it fails with
	// ErrConfigMoved, before Merge is called under the lock. Zero: it is written
	// whatever the config is.
	Under Position

	// By and Rollback are for the history: the id of the API key that wishes it,
	// and whether the content is that of an older version.
	By       string
	Rollback bool
}

// Result is what became of one Mutation.
type Result struct {
	Link     link.Link    // as written, or as found when Reused
	Reused   bool         // nothing was written
	Replayed bool         // nothing was written now; the rest is as it was the first time, without the Change
	Epoch    uint64       // of the store when it was Replayed: the link's may be an older one
	Change   *feed.Change // what to publish; nil when nothing was written
	Err      error
}

// Filter chooses links to list. Empty strings choose all, except in Owner and
// Domain, where nil does ("" is the default domain, and no owner).
type Filter struct {
	Owner  *string
	Domain *string
	Tag    string
	Search string // in code, target and title, without regard to case
	Sort   string // "" or "-created_at": newest first; "created_at": oldest first; "clicks": most clicked first
	Limit  int    // 1 to 100
	Cursor string // of the page before; "" for the first
}

// Page is one page of a list; Next is "" on the last.
type Page struct {
	Links []link.Link
	Next  string
}
