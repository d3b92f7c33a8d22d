package chaos

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"waypost/bench/fleet"
)

// many is a load of many visitors who wait, so that nearly every read is under way while its link is changed.
func many(l *Load) {
	l.Links, l.Readers, l.Reads, l.Writers, l.Writes = 100, 64, 6, 16, 200
}

// fewestPairs is how many reads and writes of one link have to be under way together in the long version.
const fewestPairs = 100_000

// lateFills lets fills come late, each by a time of its own, and what was written to Redis too, while the links are
// purged from the edges again and again: what is filled is changed while it is on its way. Probes go by NATS, in time.
func lateFills(w *world) {
	codes := make([]string, w.load.Links)
	for i := range codes {
		codes[i] = w.load.Key(i)
	}
	late := lateWrites{w: w, clients: w.redisClients()}
	w.fault("fills come late", func() {
		for i, e := range w.Edges {
			for _, p := range e.ToOrigins {
				p.Jitter(w.long(250*time.Millisecond, time.Second)) // there, and back
			}
			w.RedisProxies[i].Jitter(20 * time.Millisecond)
		}
		for end := w.h.Now() + w.long(1200*time.Millisecond, 2*time.Minute); w.h.Now() < end; {
			w.purge(w.load.Origins[0], "commit", codes...)
			late.turn()
			w.pass(w.upTo(300 * time.Millisecond))
		}
		for i, e := range w.Edges {
			for _, p := range e.ToOrigins {
				p.Jitter(0)
			}
			w.RedisProxies[i].Jitter(0)
		}
	})
	w.result.Counts["late writes to Redis"] = late.n
	w.hurried()
	if pairs := w.h.Sum().Pairs; !testing.Short() && pairs < fewestPairs {
		w.t.Errorf("%d reads and writes of one link were under way together, want at least %d", pairs, fewestPairs)
	}
}

// lateWrites writes to Redis what somebody wrote there up to two seconds ago, whatever has become of it.
type lateWrites struct {
	w       *world
	clients map[string]*redis.Client
	waiting []lateWrite
	n       int
}

// lateWrite is all values of a region as they were.
type lateWrite struct {
	client *redis.Client
	values snapshot
	due    time.Time
}

// turn writes what is due, and takes what will be.
func (l *lateWrites) turn() {
	ctx := l.w.t.Context()
	waiting := l.waiting
	l.waiting = nil
	for _, late := range waiting {
		if time.Now().Before(late.due) {
			l.waiting = append(l.waiting, late)
			continue
		}
		if err := late.values.restore(ctx, late.client); err != nil {
			l.w.t.Fatal(err)
		}
		l.n += len(late.values)
	}
	for region, client := range l.clients {
		values, err := take(ctx, client, "wp:*:v:*"+l.w.load.Name+"-*")
		if err != nil {
			l.w.t.Fatalf("redis of %s: %v", region, err)
		}
		l.waiting = append(l.waiting, lateWrite{client, values, time.Now().Add(l.w.upTo(2 * time.Second))})
	}
}

// hurried changes a link again and again, faster than a fill's round trip, on the way to edges of which one half hears of
// changes by probes alone. It must be served all the same.
func (w *world) hurried() {
	w.t.Helper()
	for i, e := range w.Edges {
		for _, p := range e.ToOrigins {
			p.Delay(50 * time.Millisecond) // there, and back
		}
		if i%2 == 1 {
			e.ToNATS.Cut()
		}
	}
	l := &written{key: w.load.Name + "-hurried", class: "available"}
	maker := &writer{history: w.h, origins: w.load.Origins, random: w.random, hasty: true}
	if err := maker.write(w.t.Context(), l); err != nil {
		w.t.Fatal(err)
	}
	w.purge(w.load.Origins[0], "edges", l.key) // every edge knows of it then
	w.leased()
	ctx, stop := context.WithCancel(w.t.Context())
	defer stop()
	read := make([]chan error, len(w.Edges))
	for i, e := range w.Edges {
		read[i] = make(chan error, 1)
		go func() { read[i] <- w.led(ctx, e, i, l.key) }()
	}
	changes := 0
	for end := time.Now().Add(w.long(time.Second, 20*time.Second)); time.Now().Before(end); changes++ {
		if err := maker.make(w.t.Context(), l, update(l.key, l.n+1)); err != nil {
			w.t.Fatal(err)
		}
		if changes%5 == 4 {
			w.purge(w.load.Origins[0], "commit", l.key)
		}
	}
	stop()
	for i := range read {
		if err := <-read[i]; err != nil {
			w.t.Error(err)
		}
	}
	w.result.Counts["changes of one link, faster than a fill"] = changes
	for i, e := range w.Edges {
		for _, p := range e.ToOrigins {
			p.Delay(0)
		}
		if i%2 == 1 {
			e.ToNATS.Heal()
		}
	}
}

// led reads a link until ctx ends. It must lead somewhere each time.
func (w *world) led(ctx context.Context, e *fleet.Edge, index int, key string) error {
	conn, err := fleet.Connect(ctx, e.Addr, netip.Addr{})
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // all its answers are here
	r := &reader{history: w.h, index: index}
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for ctx.Err() == nil {
		<-ticker.C
		if read, ok := r.once(conn, int(w.load.Boots[index].Load()), key); !ok || read.Status != http.StatusFound {
			return fmt.Errorf("%s: %s was not answered by a redirect: %s", e.Name, key, read)
		}
	}
	return nil
}
