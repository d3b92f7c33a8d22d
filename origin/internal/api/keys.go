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
	Scopes field[[]string] `json:"scopes" required:"true" nullable:"false" minItems:"1" enum:"links:read,links:write,stats:read,admin" doc:"What the key may do; admin may do everything"`
	Owner  field[string]   `json:"owner" required:"false" maxLength:"128" doc:"Confines the key to the links of this owner; not with admin. Left out or null: it is not confined"`
	Note   field[string]   `json:"note" required:"false" maxLength:"256" doc:"For people. Left out or null: empty"`
}

// Key is a key as it is listed: without what its holder presents.
type Key struct {
	ID        string    `json:"id"`
	Owner     string    `json:"owner"`
	Scopes    []string  `json:"scopes" nullable:"false"`
	Note      string    `json:"note"`
	CreatedAt time.Time `json:"created_at"`
}

// NewKey is a key as it is answered once.
type NewKey struct {
	Key
	Text string `json:"key" doc:"What its holder sends as bearer token; shown here and never again"`
}

// Keys lists keys, oldest first.
type Keys struct {
	Items []Key `json:"items" nullable:"false"`
}

func showKey(k *links.APIKey) Key {
	return Key{ID: k.ID, Owner: k.Owner, Scopes: k.Scopes, Note: k.Note, CreatedAt: k.CreatedAt.UTC()}
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
	key, text, err := a.keys.Make(ctx, valueOf(body.Owner), valueOf(body.Scopes), valueOf(body.Note))
	if err != nil {
		return nil, err
	}
	return &createKeyAnswer{Body: NewKey{Key: showKey(&key), Text: text}}, nil
}

// valueOf is the field's value, or the zero value where there is none.
func valueOf[T any](f field[T]) T {
	if f.Value == nil {
		var zero T
		return zero
	}
	return *f.Value
}

type listKeysAnswer struct{ Body Keys }

func (a *API) listKeys(ctx context.Context, _ *struct{}) (*listKeysAnswer, error) {
	keys, err := a.keys.List(ctx)
	if err != nil {
		return nil, err
	}
	out := &listKeysAnswer{Body: Keys{Items: make([]Key, len(keys))}}
	for i := range keys {
		out.Body.Items[i] = showKey(&keys[i])
	}
	return out, nil
}

type revokeKeyRequest struct {
	ID string `path:"id" doc:"The key's id"`
}

func (a *API) revokeKey(ctx context.Context, in *revokeKeyRequest) (*struct{}, error) {
	err := a.keys.Revoke(ctx, in.ID)
	if errors.Is(err, link.ErrNotFound) {
		return nil, newProblem(http.StatusNotFound, fmt.Sprintf("there is no valid key with the id %q", shorten(in.ID)))
	}
	return nil, err
}
