package api

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// HistoryEntry is one write of a link.
type HistoryEntry struct {
	Version uint64            `json:"version" doc:"The link's version since this write" example:"7"`
	At      time.Time         `json:"at" doc:"When it was written"`
	By      string            `json:"by" doc:"Id of the API key that wrote it" example:"3kTr9bQx0ZaL"`
	Owner   string            `json:"owner" doc:"Whose link it was since" example:"marketing"`
	Action  string            `json:"action" enum:"create,change,delete,restore,rollback" doc:"What was done; restore: the code of a deleted link was taken again"`
	Changes map[string]Change `json:"changes" nullable:"false" doc:"The fields that it changed, by their names; of a creation those that are not at their defaults"`
}

// Change is a field before and after a write.
type Change struct {
	From json.RawMessage `json:"from" doc:"The value before; null also of a creation, and where it was another owner's"`
	To   json.RawMessage `json:"to" doc:"The value since"`
}

// HistoryPage is a page of a link's history.
type HistoryPage struct {
	Items      []HistoryEntry `json:"items" nullable:"false" doc:"The entries of this page, newest first"`
	NextCursor *string        `json:"next_cursor" nullable:"true" doc:"For the next page; null on the last"`
}

type historyRequest struct {
	LinkPath
	Limit  int    `query:"limit" default:"10" minimum:"1" maximum:"100" doc:"Most entries to answer"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
}

type historyAnswer struct{ Body HistoryPage }

func (a *API) history(ctx context.Context, in *historyRequest) (*historyAnswer, error) {
	key, err := in.key()
	if err != nil {
		return nil, err
	}
	below, err := in.below()
	if err != nil {
		return nil, err
	}
	entries, next, err := a.links.History(ctx, callerOf(ctx), key, below, in.Limit)
	if err != nil {
		return nil, in.named(err)
	}
	out := &historyAnswer{Body: HistoryPage{Items: make([]HistoryEntry, len(entries))}}
	for i := range entries {
		out.Body.Items[i] = showEntry(&entries[i])
	}
	if next > 0 {
		cursor := strconv.FormatUint(next, 10)
		out.Body.NextCursor = &cursor
	}
	return out, nil
}

// below reads a cursor, which is the version of a page's last entry; 0 for none.
func (in *historyRequest) below() (uint64, error) {
	if in.Cursor == "" {
		return 0, nil
	}
	version, err := strconv.ParseUint(in.Cursor, 10, 63)
	if err != nil || version == 0 {
		return 0, faulty([]link.FieldError{{Field: "cursor", Reason: "is not one that this list gave out"}})
	}
	return version, nil
}

func showEntry(e *links.Entry) HistoryEntry {
	shown := HistoryEntry{
		Version: e.Version, At: e.At, By: e.By, Owner: e.Owner, Action: string(e.Action),
		Changes: make(map[string]Change, len(e.Changes)),
	}
	for name, change := range e.Changes {
		shown.Changes[name] = Change(change)
	}
	return shown
}

// Rollback is the body of a rollback.
type Rollback struct {
	Version field[int64] `json:"version" required:"true" nullable:"false" minimum:"1" doc:"A version of the link's history, other than a deletion" example:"7"`
}

type rollbackRequest struct {
	LinkPath
	Ack
	IfMatch
	RawBody []byte
}

func (a *API) rollback(ctx context.Context, in *rollbackRequest) (*patchAnswer, error) {
	key, err := in.key()
	if err != nil {
		return nil, err
	}
	version, err := readVersion(in.RawBody)
	if err != nil {
		return nil, err
	}
	release, err := a.rollbacks.take(ctx, "rollbacks")
	if err != nil {
		return nil, err
	}
	defer release()
	written, err := a.links.Rollback(ctx, callerOf(ctx), key, version, ifMatch(in.IfMatch.IfMatch), in.ack())
	if err != nil {
		return nil, in.named(err)
	}
	return &patchAnswer{ETag: etag(&written.Link), Propagation: propagation(written.Receipt), Body: a.show(&written.Link)}, nil
}

func readVersion(raw []byte) (uint64, error) {
	var body Rollback
	faults, err := decode(raw, &body)
	if err != nil {
		return 0, err
	}
	if v := body.Version.Value; len(faults) == 0 && (v == nil || *v < 1) {
		faults = []link.FieldError{{Field: "version", Reason: "must be a version of the link's history"}}
	}
	if len(faults) > 0 {
		return 0, faulty(faults)
	}
	return uint64(*body.Version.Value), nil //nolint:gosec // positive
}
