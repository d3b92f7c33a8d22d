package chaos

import (
	"net/http"
	"time"

	"waypost/bench/fleet"
)

// lateFills lets fills, and what is written to Redis, come late, by another time each, while the links are purged from
// the edges again and again: what is filled is changed while it is on its way. Probes go by NATS, in time. (Links that
// are deleted just then are missing in a purge's answer, which is fine.)
func lateFills(w *world) {
	codes := make([]string, w.load.Links)
	for i := range codes {
		codes[i] = w.load.Key(i)
	}
	w.fault("fills come late", func() {
		most := w.long(250*time.Millisecond, 2*time.Second)
		for range w.times(6, 400) {
			for i, e := range w.Edges {
				for _, p := range e.ToOrigins {
					p.Delay(w.upTo(most))
				}
				w.RedisProxies[i].Delay(w.upTo(20 * time.Millisecond))
			}
			answer, err := w.load.Origins[0].Do(w.t.Context(), http.MethodPost, "/purge?ack=commit", fleet.Fields{"codes": codes})
			if err != nil || answer.Status != http.StatusOK {
				w.t.Fatalf("purge: %v, status %d: %s", err, answer.Status, answer.Body)
			}
			w.pass(w.upTo(300 * time.Millisecond))
		}
		for i, e := range w.Edges {
			for _, p := range e.ToOrigins {
				p.Delay(0)
			}
			w.RedisProxies[i].Delay(0)
		}
	})
}
