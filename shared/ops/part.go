package ops

import (
	"log/slog"
	"regexp"
	"strings"
	"sync/atomic"
	"time"
)

// Part is one dependency of a service. Its methods may be called from any
// goroutine and at every use of the dependency: reporting what is already
// known costs one atomic load and no allocation.
//
// Only a change of state is logged. A new reason for the same state is shown
// by /readyz but not logged, else a reason with a varying port or counter
// would write a line a request.
type Part struct {
	name     string
	required bool
	health   *Health
	status   atomic.Pointer[status]
}

// status is immutable once stored.
type status struct {
	state  State
	since  time.Time // of the state, not of the reason
	reason string
}

// OK reports that the part does its work.
func (p *Part) OK() { p.set(StateOK, "") }

// Degraded reports that the part does its work with a loss. The reason must
// hold no secret.
func (p *Part) Degraded(reason string) { p.set(StateDegraded, reason) }

// Down reports that the part does not do its work. The reason must hold no
// secret.
func (p *Part) Down(reason string) { p.set(StateDown, reason) }

func (p *Part) set(state State, reason string) {
	for {
		old := p.status.Load()
		if old.state == state && old.reason == reason {
			return
		}
		next := &status{state: state, since: old.since, reason: reason}
		if old.state != state {
			next.since = p.health.now()
		}
		if !p.status.CompareAndSwap(old, next) {
			continue
		}
		if old.state != state {
			p.log(next)
		}
		return
	}
}

func (p *Part) log(s *status) {
	write := p.health.logger.Warn
	if s.state == StateOK {
		write = p.health.logger.Info
	}
	write("part changed",
		slog.String("part", p.name), slog.String("state", string(s.state)), slog.String("reason", shown(s.reason)))
}

// userinfo runs to the last @ of a word: too much is better than a password.
var userinfo = regexp.MustCompile(`://\S*@`)

// shown is a reason fit for others' eyes: one short line of valid UTF-8
// without the user and password that drivers like to repeat from a URL.
func shown(reason string) string {
	const most = 256
	reason = userinfo.ReplaceAllString(reason, "://")
	if len(reason) > most {
		reason = reason[:most] + "..."
	}
	return strings.ToValidUTF8(reason, "\uFFFD")
}
