package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/shared/feed"
)

// Relay carries the messages of edges and origins that use two different prefixes of NATS subjects, and loses, repeats
// and reorders changes and acknowledgements on the way. Probes pass as they are. Safe for concurrent use.
type Relay struct {
	edges, origins string // prefixes
	random         *rand.Rand
	conn           *nats.Conn
	messages       chan *nats.Msg

	mu      sync.Mutex
	share   float64
	carried Carried
}

// Carried counts what a relay did to changes and acknowledgements.
type Carried struct{ Passed, Dropped, Repeated, Reordered int }

// NewRelay connects to a NATS server and takes messages from then on. Run carries them.
func NewRelay(url, edges, origins string, random *rand.Rand) (*Relay, error) {
	conn, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond), nats.PingInterval(time.Second))
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	r := &Relay{edges: edges, origins: origins, random: random, conn: conn, messages: make(chan *nats.Msg, 1024)}
	for _, subject := range []string{feed.SubjectAll(origins), feed.SubjectAck(edges, "*"), feed.SubjectProbe(edges)} {
		if _, err := conn.ChanSubscribe(subject, r.messages); err != nil {
			conn.Close()
			return nil, fmt.Errorf("relay of %s: %w", subject, err)
		}
	}
	if err := conn.Flush(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("relay: %w", err)
	}
	return r, nil
}

// Hurt makes the relay drop this share of changes and acknowledgements, repeat as many and reorder as many. Zero ends
// it.
func (r *Relay) Hurt(share float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.share = share
}

// Carried counts since NewRelay.
func (r *Relay) Carried() Carried {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.carried
}

// hold is the most for which a message is held back.
const hold = 30 * time.Millisecond

// Run carries messages until ctx ends, and disconnects. To be called once.
func (r *Relay) Run(ctx context.Context) {
	defer r.conn.Close()
	ticker := time.NewTicker(hold)
	defer ticker.Stop()
	var held []*nats.Msg
	for {
		var now []*nats.Msg
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			now, held = held, nil
		case m := <-r.messages:
			m = r.renamed(m)
			first, later := r.fate(m)
			if first {
				now, held = append([]*nats.Msg{m}, held...), nil
			}
			if later {
				held = append(held, m)
			}
		}
		for _, m := range now {
			_ = r.conn.PublishMsg(m) // lost with the connection, as a message may be
		}
	}
}

// fate draws whether a message passes now, ahead of those that are held, and whether it passes later.
func (r *Relay) fate(m *nats.Msg) (now, later bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Subject == feed.SubjectProbe(r.origins) {
		return true, false
	}
	switch draw := r.random.Float64(); {
	case draw < r.share:
		r.carried.Dropped++
		return false, false
	case draw < 2*r.share:
		r.carried.Repeated++
		return true, true
	case draw < 3*r.share:
		r.carried.Reordered++
		return false, true
	default:
		r.carried.Passed++
		return true, false
	}
}

// renamed is a message as the other side knows it. What asks for an answer is answered to whom it names, but
// acknowledgements come by here.
func (r *Relay) renamed(m *nats.Msg) *nats.Msg {
	to := nats.NewMsg(r.other(m.Subject))
	to.Data, to.Reply = m.Data, m.Reply
	if strings.HasPrefix(m.Reply, feed.SubjectAck(r.origins, "")) {
		to.Reply = r.other(m.Reply)
	}
	return to
}

func (r *Relay) other(subject string) string {
	if rest, ok := strings.CutPrefix(subject, r.origins+"."); ok {
		return r.edges + "." + rest
	}
	return r.origins + strings.TrimPrefix(subject, r.edges)
}
