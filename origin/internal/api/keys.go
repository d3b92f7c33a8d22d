package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// KeyCreate is the body of a new API key.
type KeyCreate struct {
	Scopes field[[]string] `json:"scopes" required:"true" nullable:"false" minItems:"1" enum:"links:read,links:write,stats:read,admin" doc:"What the key may do; admin may do everything" example:"[\"links:read\",\"links:write\"]"`
	Owner  field[string]   `json:"owner" required:"false" maxLength:"128" doc:"Confines the key to the links of this owner; not with admin. Left out or null: it is not confined" example:"marketing"`
	Note   field[string]   `json:"note" required:"false" maxLength:"256" doc:"For people. Left out or null: empty" example:"nightly import"`

	CreateRate  field[float64] `json:"create_rate" required:"false" minimum:"0.01" maximum:"10000" doc:"How many links a second the key may create; a key with the scope admin may create any number. Left out or null: as the service is set" example:"50"`
	CreateBurst field[int64]   `json:"create_burst" required:"false" minimum:"1" maximum:"1000000" doc:"How many links the key may create at once. Left out or null: as the service is set" example:"1000"`
}

// KeyChange is the body of a change of a key.
type KeyChange struct {
	Note        field[string]  `json:"note" required:"false" maxLength:"256" doc:"For people. Left out: unchanged; null: empty" example:"nightly import"`
	CreateRate  field[float64] `json:"create_rate" required:"false" minimum:"0.01" maximum:"10000" doc:"How many links a second the key may create. Left out: unchanged; null: as the service is set" example:"50"`
	CreateBurst field[int64]   `json:"create_burst" required:"false" minimum:"1" maximum:"1000000" doc:"How many links the key may create at once. Left out: unchanged; null: as the service is set" example:"1000"`
}

// Key is a key as it is listed: without what its holder presents.
type Key struct {
	ID     string   `json:"id" doc:"Names the key, for its change and its revocation" example:"3kTr9bQx0ZaL"`
	Owner  string   `json:"owner" doc:"The owner that it is confined to; empty: none" example:"marketing"`
	Scopes []string `json:"scopes" nullable:"false" doc:"What it may do" example:"[\"links:read\",\"links:write\"]"`
	Note   string   `json:"note" doc:"For people" example:"nightly import"`

	CreateRate  *float64 `json:"create_rate" nullable:"true" doc:"How many links a second it may create; null: as the service is set" example:"50"`
	CreateBurst *int     `json:"create_burst" nullable:"true" doc:"How many links it may create at once; null: as the service is set" example:"1000"`

	CreatedAt time.Time `json:"created_at" doc:"When it was made"`
}

// NewKey is a key as it is answered once.
type NewKey struct {
	Key
	Text string `json:"key" doc:"What its holder sends as bearer token; shown here and never again"`
}

// Keys is a page of keys, oldest first.
type Keys struct {
	Items      []Key   `json:"items" nullable:"false" doc:"The valid keys of this page"`
	NextCursor *string `json:"next_cursor" nullable:"true" doc:"For the next page; null on the last"`
}

func showKey(k *links.APIKey) Key {
	return Key{
		ID: k.ID, Owner: k.Owner, Scopes: k.Scopes, Note: k.Note,
		CreateRate: shownUnlessZero(k.CreateRate), CreateBurst: shownUnlessZero(k.CreateBurst), CreatedAt: k.CreatedAt.UTC(),
	}
}

type createKeyRequest struct{ RawBody []byte }

type createKeyAnswer struct{ Body NewKey }

func (a *API) createKey(ctx context.Context, in *createKeyRequest) (*createKeyAnswer, error) {
	var body KeyCreate
	faults, err := decode(in.RawBody, &body)
	switch {
	case err != nil:
		return nil, err
	case len(faults) > 0:
		return nil, faulty(faults)
	}
	key, text, err := a.keys.Make(ctx, &links.KeyInput{
		Note: body.Note.Field, CreateRate: body.CreateRate.Field, CreateBurst: body.CreateBurst.Field,
		Owner: body.Owner.Field, Scopes: body.Scopes.Field,
	})
	if err != nil {
		return nil, err
	}
	return &createKeyAnswer{Body: NewKey{Key: showKey(&key), Text: text}}, nil
}

type listKeysRequest struct {
	Limit  int    `query:"limit" default:"100" minimum:"1" maximum:"100" doc:"Most keys to answer"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
}

type listKeysAnswer struct{ Body Keys }

func (a *API) listKeys(ctx context.Context, in *listKeysRequest) (*listKeysAnswer, error) {
	after, err := Page{Cursor: in.Cursor}.after()
	if err != nil {
		return nil, err
	}
	keys, next, err := a.keys.List(ctx, after, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &listKeysAnswer{Body: Keys{Items: make([]Key, len(keys)), NextCursor: nextCursor(next)}}
	for i := range keys {
		out.Body.Items[i] = showKey(&keys[i])
	}
	return out, nil
}

// KeyPath names a key.
type KeyPath struct {
	ID string `path:"id" doc:"The key's id" example:"3kTr9bQx0ZaL"`
}

// named says what it was that is not there. Other errors it returns as they are.
func (p KeyPath) named(err error) error {
	if errors.Is(err, link.ErrNotFound) {
		return newProblem(http.StatusNotFound, fmt.Sprintf("there is no valid key with the id %q", shorten(p.ID)))
	}
	return err
}

type changeKeyRequest struct {
	KeyPath
	RawBody []byte
}

type changeKeyAnswer struct{ Body Key }

func (a *API) changeKey(ctx context.Context, in *changeKeyRequest) (*changeKeyAnswer, error) {
	var body KeyChange
	faults, err := decode(in.RawBody, &body)
	switch {
	case err != nil:
		return nil, err
	case len(faults) > 0:
		return nil, faulty(faults)
	}
	key, err := a.keys.Change(ctx, in.ID, &links.KeyInput{
		Note: body.Note.Field, CreateRate: body.CreateRate.Field, CreateBurst: body.CreateBurst.Field,
	})
	if err != nil {
		return nil, in.named(err)
	}
	return &changeKeyAnswer{Body: showKey(&key)}, nil
}

func (a *API) revokeKey(ctx context.Context, in *KeyPath) (*struct{}, error) {
	return nil, in.named(a.keys.Revoke(ctx, in.ID))
}
