package links

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"waypost/shared/link"
)

// Action is what a write did to a link.
type Action string

// The actions. A restored link has the key of a deleted one, whose history it
// goes on with.
const (
	ActionCreate   Action = "create"
	ActionChange   Action = "change"
	ActionDelete   Action = "delete"
	ActionRestore  Action = "restore"
	ActionRollback Action = "rollback"
)

// Entry is one write in the history of a key.
type Entry struct {
	Version  uint64
	Previous uint64 // version before the write; 0 for the first
	At       time.Time
	By       string // id of the API key; "" where there was none
	Owner    string // of the link after the write
	Action   Action
	Changes  Changes
}

// Window chooses entries of a history. Zero fields choose all, but Limit.
type Window struct {
	Owner *string // after which the link was this owner's
	From  uint64  // lowest version
	Below uint64  // above the highest version
	Limit int
}

// Past is a link, a deleted one too, and what the window shows of its history,
// newest first, in one snapshot.
type Past struct {
	Link    link.Link
	Entries []Entry
}

// Record is the entry of the mutation in the history of its key. old is nil if
// there was no row.
func (m *Mutation) Record(old, made *link.Link) (Entry, error) {
	e := Entry{Version: made.Version, At: made.UpdatedAt, By: m.By, Owner: made.Owner, Action: ActionChange}
	to := contentOf(made)
	var from *Content
	if old != nil {
		before := contentOf(old)
		from, e.Previous = &before, old.Version
	}
	switch {
	case old == nil:
		e.Action = ActionCreate
	case !made.DeletedAt.IsZero():
		e.Action = ActionDelete
	case !old.DeletedAt.IsZero():
		e.Action = ActionRestore
	case m.Rollback:
		e.Action = ActionRollback
	}
	var err error
	if e.Changes, err = changesTo(from, &to); err != nil {
		return Entry{}, fmt.Errorf("history of %s: %w", m.Key, err)
	}
	return e, nil
}

// History returns entries of a link's history, newest first, and the version
// to go on below, 0 on the last page. It outlives the link.
//
// A confined caller sees the history of links that are its owner's, or were
// when they were deleted, and of it what was written to its owner's link: of
// another owner's time there is nothing, nor of what the link was before it
// came to its owner. Errors: *link.InvalidError, link.ErrNotFound, ErrDomain,
// link.ErrUnavailable.
func (s *Service) History(ctx context.Context, c Caller, key link.Key, below uint64, limit int) (entries []Entry, next uint64, err error) {
	if limit < 1 || limit > MaxLimit {
		return nil, 0, faults{{Field: "limit", Reason: fmt.Sprintf("must be from 1 to %d", MaxLimit)}}.err()
	}
	w := Window{Below: below, Limit: limit + 1}
	if c.Owner != "" {
		w.Owner = &c.Owner
	}
	past, err := s.past(ctx, c, key, w)
	if err != nil {
		return nil, 0, err
	}
	entries = past.Entries
	if len(entries) > limit {
		entries, next = entries[:limit], entries[limit-1].Version
	}
	for i := range entries {
		if c.Owner != "" {
			entries[i].Changes = entries[i].Changes.within(c.Owner)
		}
	}
	return entries, next, nil
}

// past reads the history of a link that the caller sees, or saw until it was
// deleted.
func (s *Service) past(ctx context.Context, c Caller, key link.Key, w Window) (Past, error) {
	past, err := s.records.History(ctx, key, w)
	if err != nil {
		return Past{}, s.missing(ctx, key, err)
	}
	if !c.sees(&past.Link) {
		return Past{}, link.ErrNotFound
	}
	return past, nil
}

// within leaves out what was before, where the changes brought the link to the
// owner.
func (c Changes) within(owner string) Changes {
	change, moved := c["owner"]
	if !moved {
		return c
	}
	var from string
	if json.Unmarshal(change.From, &from) == nil && from == owner {
		return c
	}
	own := make(Changes, len(c))
	for name, change := range c {
		own[name] = FieldChange{To: change.To}
	}
	return own
}
