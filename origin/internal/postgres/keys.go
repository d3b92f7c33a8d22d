package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

const keyColumns = `id, hash, owner, scopes, note, create_rate, create_burst, created_at, revoked_at`

const insertKey = `INSERT INTO api_key (id, hash, owner, scopes, note, create_rate, create_burst, created_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

// CreateKey stores a new API key.
func (s *Store) CreateKey(ctx context.Context, key links.APIKey) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	_, err := s.pool.Exec(ctx, insertKey, keyValues(key)...)
	return translate("create key", err)
}

// FirstKey stores key if there is no key at all, not even a revoked one, and
// says whether it did. Of origins that start together one makes it.
func (s *Store) FirstKey(ctx context.Context, key links.APIKey) (made bool, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// Not in the INSERT itself: its snapshot would be from before the wait.
		if _, err := tx.Exec(ctx, `LOCK TABLE api_key IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return err
		}
		var some bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM api_key)`).Scan(&some); err != nil || some {
			return err
		}
		made = true
		_, err := tx.Exec(ctx, insertKey, keyValues(key)...)
		return err
	})
	if err != nil {
		return false, translate("first key", err)
	}
	return made, nil
}

// Key reads the key with this id, revoked or not, as it was at one moment after
// the call began. Every call of the admin API asks for its key. Errors:
// link.ErrNotFound.
func (s *Store) Key(ctx context.Context, id string) (links.APIKey, error) {
	ctx, cancel := context.WithTimeout(ctx, min(keyTimeout, s.timeout))
	defer cancel()
	key, found, err := s.keys.read(ctx, id)
	switch {
	case err != nil:
		return links.APIKey{}, translate("key", err)
	case !found:
		return links.APIKey{}, link.ErrNotFound
	}
	return key, nil
}

// readKeys reads keys by their ids.
func (s *Store) readKeys(ctx context.Context, ids []string) (map[string]links.APIKey, error) {
	rows, err := s.pool.Query(ctx, `SELECT `+keyColumns+` FROM api_key WHERE id = ANY($1)`, ids)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, scanKey)
	keys := make(map[string]links.APIKey, len(found))
	for _, key := range found {
		keys[key.ID] = key
	}
	return keys, err
}

// AnyKey reports whether there is a key, revoked or not.
func (s *Store) AnyKey(ctx context.Context) (some bool, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err = s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM api_key)`).Scan(&some)
	return some, translate("any key", err)
}

// Keys reads up to limit keys that are not revoked, oldest first, after the one
// with an id, which may be revoked; "" starts. After an id that no key ever had
// there is none.
func (s *Store) Keys(ctx context.Context, after string, limit int) ([]links.APIKey, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, `SELECT `+keyColumns+` FROM api_key
		WHERE revoked_at IS NULL AND ($1 = '' OR (created_at, id) > (SELECT created_at, id FROM api_key WHERE id = $1))
		ORDER BY created_at, id LIMIT $2`, after, limit)
	if err != nil {
		return nil, translate("keys", err)
	}
	keys, err := pgx.CollectRows(rows, scanKey)
	return keys, translate("keys", err)
}

// ChangeKey changes what the input has of fields that can be changed. Errors:
// link.ErrNotFound, also for a key that is revoked.
func (s *Store) ChangeKey(ctx context.Context, id string, in *links.KeyInput) (links.APIKey, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var to links.APIKey
	in.Apply(&to)
	rows, err := s.pool.Query(ctx, `UPDATE api_key SET
			note = CASE WHEN $2 THEN $3 ELSE note END,
			create_rate = CASE WHEN $4 THEN $5 ELSE create_rate END,
			create_burst = CASE WHEN $6 THEN $7 ELSE create_burst END
		WHERE id = $1 AND revoked_at IS NULL RETURNING `+keyColumns,
		id, in.Note.Set, to.Note, in.CreateRate.Set, to.CreateRate, in.CreateBurst.Set, to.CreateBurst)
	if err != nil {
		return links.APIKey{}, translate("change key", err)
	}
	key, err := pgx.CollectExactlyOneRow(rows, scanKey)
	if errors.Is(err, pgx.ErrNoRows) {
		return links.APIKey{}, link.ErrNotFound
	}
	return key, translate("change key", err)
}

const isLastAdmin = `SELECT 'admin' = ANY (k.scopes) AND NOT EXISTS (
	SELECT FROM api_key o WHERE o.id <> k.id AND o.revoked_at IS NULL AND 'admin' = ANY (o.scopes)
) FROM api_key k WHERE k.id = $1 AND k.revoked_at IS NULL`

// RevokeKey ends a key. Errors: link.ErrNotFound, also for one that is revoked;
// links.ErrLastAdmin.
func (s *Store) RevokeKey(ctx context.Context, id string) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// As in FirstKey: of two that revoke the last two admin keys, the second
		// must see what the first did.
		if _, err := tx.Exec(ctx, `LOCK TABLE api_key IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return err
		}
		var last bool
		switch err := tx.QueryRow(ctx, isLastAdmin, id).Scan(&last); {
		case errors.Is(err, pgx.ErrNoRows):
			return link.ErrNotFound
		case err != nil:
			return err
		case last:
			return links.ErrLastAdmin
		}
		_, err := tx.Exec(ctx, `UPDATE api_key SET revoked_at = clock_timestamp() WHERE id = $1`, id)
		return err
	})
	if errors.Is(err, link.ErrNotFound) || errors.Is(err, links.ErrLastAdmin) {
		return err
	}
	return translate("revoke key", err)
}

func keyValues(key links.APIKey) []any {
	scopes := key.Scopes
	if scopes == nil {
		scopes = []string{}
	}
	return []any{key.ID, key.Hash[:], key.Owner, scopes, key.Note, key.CreateRate, key.CreateBurst, key.CreatedAt}
}

func scanKey(row pgx.CollectableRow) (links.APIKey, error) {
	var key links.APIKey
	var hash []byte
	var created, revoked pgtype.Timestamptz
	err := row.Scan(&key.ID, &hash, &key.Owner, &key.Scopes, &key.Note, &key.CreateRate, &key.CreateBurst, &created, &revoked)
	copy(key.Hash[:], hash)
	key.CreatedAt, key.RevokedAt = utc(created), utc(revoked)
	return key, err
}
