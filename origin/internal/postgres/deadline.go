package postgres

import (
	"context"
	"time"
)

const (
	// answerTime is what the answer may take beyond the statement timeout, which
	// only a server that is well keeps to.
	answerTime = time.Second

	// keyTimeout is for the look-up of a key, which stands before every call of
	// the admin API: a server that hangs is told to clients soon.
	keyTimeout = 2 * time.Second
)

// bounded gives a call, or one transaction of a Write, the time that a
// PostgreSQL which is well needs at most, waiting for a connection included.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.timeout)
}
