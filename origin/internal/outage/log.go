// Package outage logs why requests are answered 503, which readiness does not
// show where the cause is one request's or one moment's.
package outage

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

const (
	// pause is the least time between two lines about one kind of cause.
	pause = time.Second
	// maxKinds bounds the kinds that are told apart within a pause. What comes
	// beyond has no line.
	maxKinds = 32
)

// Log writes at most one line a second for each kind of cause. All methods are
// safe for concurrent use.
type Log struct {
	logger *slog.Logger

	mu   sync.Mutex
	last map[string]time.Time // of the newest line, by kind
}

// New returns a Log that writes to logger.
func New(logger *slog.Logger) *Log {
	return &Log{logger: logger, last: make(map[string]time.Time)}
}

// Note says that the request of this context and id is answered 503 because of
// cause. Where the client has left there is no answer, and nothing to say.
func (l *Log) Note(ctx context.Context, requestID string, cause error) {
	if errors.Is(ctx.Err(), context.Canceled) || !l.due(kindOf(cause), time.Now()) {
		return
	}
	l.logger.LogAttrs(ctx, slog.LevelWarn, "request answered 503",
		slog.String("request_id", requestID), slog.Any("error", cause))
}

func (l *Log) due(kind string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last, told := l.last[kind]; told && now.Sub(last) < pause {
		return false
	}
	if len(l.last) >= maxKinds {
		for k, last := range l.last {
			if now.Sub(last) >= pause {
				delete(l.last, k)
			}
		}
	}
	if len(l.last) >= maxKinds {
		return false
	}
	l.last[kind] = now
	return true
}

// coded is an error of PostgreSQL's own.
type coded interface {
	error
	SQLState() string
}

// kindOf is PostgreSQL's code of the cause, or else the innermost error of it,
// the last one where several are wrapped: that is the driver's or a sentinel.
func kindOf(err error) string {
	if e, ok := errors.AsType[coded](err); ok {
		return e.SQLState()
	}
	for {
		var inner error
		switch e := err.(type) { //nolint:errorlint // takes the chain apart link by link
		case interface{ Unwrap() error }:
			inner = e.Unwrap()
		case interface{ Unwrap() []error }:
			if all := e.Unwrap(); len(all) > 0 {
				inner = all[len(all)-1]
			}
		}
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
