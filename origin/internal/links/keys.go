package links

import (
	"context"
	"errors"
	"time"

	"waypost/shared/link"
)

// ErrUnknownKey refuses a key that does not exist, is revoked or is none.
var ErrUnknownKey = errors.New("API key is not valid")

// ErrLastAdmin refuses to revoke the only admin key: nobody could make another
// one through the API.
var ErrLastAdmin = errors.New("key is the last valid admin key")

// keyReader looks keys up.
type keyReader interface {
	Key(ctx context.Context, id string) (APIKey, error) // link.ErrNotFound
	// Keys are those that are not revoked, oldest first, after the key with an id.
	Keys(ctx context.Context, after string, limit int) ([]APIKey, error)
	AnyKey(ctx context.Context) (some bool, err error)
}

// keyWriter changes keys.
type keyWriter interface {
	CreateKey(ctx context.Context, key APIKey) error
	RevokeKey(ctx context.Context, id string) error // link.ErrNotFound, ErrLastAdmin
	// FirstKey stores the key if there is none at all, and says whether it did.
	FirstKey(ctx context.Context, key APIKey) (made bool, err error)
}

// keyChanger changes what can be changed of a key, to what the input has, and
// returns the key. link.ErrNotFound, also for one that is revoked.
type keyChanger interface {
	ChangeKey(ctx context.Context, id string, in *KeyInput) (APIKey, error)
}

type keyStore interface {
	keyReader
	keyWriter
	keyChanger
}

// Keys makes, checks and revokes API keys. It is safe for concurrent use.
type Keys struct {
	store keyStore
	now   func() time.Time
}

// NewKeys returns Keys kept in store; now stamps new ones.
func NewKeys(store keyStore, now func() time.Time) *Keys {
	return &Keys{store: store, now: now}
}

// Make stores a new key and returns the text its holder presents, which cannot
// be had again. An admin key is never confined. Errors: *link.InvalidError,
// link.ErrUnavailable.
func (k *Keys) Make(ctx context.Context, in *KeyInput) (key APIKey, text string, err error) {
	scopes, err := in.checkNew()
	if err != nil {
		return APIKey{}, "", err
	}
	text = NewKeyText()
	id, secret, _ := parseKeyText(text)
	key = newAPIKey(id, secret, scopes, k.now())
	key.Owner = in.Owner.or("")
	in.Apply(&key)
	if err := k.store.CreateKey(ctx, key); err != nil {
		return APIKey{}, "", err
	}
	return key, text, nil
}

// None reports whether there is no key at all, not even a revoked one.
func (k *Keys) None(ctx context.Context) (bool, error) {
	some, err := k.store.AnyKey(ctx)
	return !some, err
}

// First makes text an admin key if there is no key at all, and says whether it
// did. Of origins that start together one does. The caller has put text in a
// safe place before, so that no key exists that nobody knows.
func (k *Keys) First(ctx context.Context, text string) (made bool, err error) {
	id, secret, ok := parseKeyText(text)
	if !ok {
		return false, ErrUnknownKey
	}
	key := newAPIKey(id, secret, []string{ScopeAdmin}, k.now())
	key.Note = "first admin key"
	return k.store.FirstKey(ctx, key)
}

// Check returns the key that text proves. Errors: ErrUnknownKey,
// link.ErrUnavailable.
func (k *Keys) Check(ctx context.Context, text string) (APIKey, error) {
	id, secret, ok := parseKeyText(text)
	if !ok {
		return APIKey{}, ErrUnknownKey
	}
	key, err := k.store.Key(ctx, id)
	switch {
	case errors.Is(err, link.ErrNotFound):
		return APIKey{}, ErrUnknownKey
	case err != nil:
		return APIKey{}, err
	case !key.matches(secret), !key.RevokedAt.IsZero():
		return APIKey{}, ErrUnknownKey
	}
	return key, nil
}

// List returns up to limit keys that are not revoked, oldest first, after the key
// whose id the place names, which may be revoked; the zero Place starts. next is
// where another page begins; the zero Place if there is none. Error:
// link.ErrUnavailable.
func (k *Keys) List(ctx context.Context, after Place, limit int) (keys []APIKey, next Place, err error) {
	keys, err = k.store.Keys(ctx, after.Name, limit+1)
	if err != nil {
		return nil, Place{}, err
	}
	if len(keys) > limit {
		keys = keys[:limit]
		next = Place{Started: true, Name: keys[limit-1].ID}
	}
	return keys, next, nil
}

// Change changes a key's note and allowance; it holds for the next call, on every
// origin. Errors: *link.InvalidError, link.ErrNotFound, link.ErrUnavailable.
func (k *Keys) Change(ctx context.Context, id string, in *KeyInput) (APIKey, error) {
	if err := in.check().err(); err != nil {
		return APIKey{}, err
	}
	if !isKeyID(id) {
		return APIKey{}, link.ErrNotFound
	}
	return k.store.ChangeKey(ctx, id, in)
}

// Revoke ends a key at once, on every origin. Errors: link.ErrNotFound,
// ErrLastAdmin, link.ErrUnavailable.
func (k *Keys) Revoke(ctx context.Context, id string) error {
	if !isKeyID(id) {
		return link.ErrNotFound
	}
	return k.store.RevokeKey(ctx, id)
}
