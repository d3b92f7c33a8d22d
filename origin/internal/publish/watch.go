package publish

import (
	"errors"
	"sync"

	"github.com/nats-io/nats.go"
)

// watch makes one call a change of state out of the library's one call an
// attempt.
type watch struct {
	tell func(error)

	mu    sync.Mutex // held over tell, to keep its calls in order
	state state
}

// state of a connection, as far as it was told.
type state uint8

const (
	untold  state = iota
	working       // connected
	away          // not connected
	refused       // the server is there and does not let this user do what it must
)

func (w *watch) up() { w.move(working, nil) }

// down tells of an error. While the server refuses, the attempts that end with
// a lost connection say nothing new. Messages that found a queue full say
// nothing of the connection.
func (w *watch) down(err error) {
	switch {
	case errors.Is(err, nats.ErrSlowConsumer):
	case err == nil:
		w.move(away, nats.ErrDisconnected)
	case isRefusal(err):
		w.move(refused, err)
	default:
		w.move(away, err)
	}
}

func (w *watch) move(to state, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if to == w.state || to == away && w.state == refused {
		return
	}
	w.state = to
	w.tell(err)
}

func isRefusal(err error) bool {
	for _, refusal := range []error{
		nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired,
		nats.ErrPermissionViolation,
	} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}
