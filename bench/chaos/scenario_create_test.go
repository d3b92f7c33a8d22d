package chaos

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"waypost/bench/fleet"
)

// newLinks makes links that every edge has just been asked for in vain, and reads them everywhere at once, while the
// filters, which know of no new link, are lost and rebuilt.
func newLinks(w *world) {
	conns := make([]*fleet.Conn, len(w.Edges))
	for i, e := range w.Edges {
		conn, err := fleet.Connect(w.t.Context(), e.Addr, netip.Addr{})
		if err != nil {
			w.t.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // all its answers are here
		conns[i] = conn
	}
	clients := w.redisClients()
	maker := &writer{history: w.h, origins: w.load.Origins, random: w.load.random(4, 0)}
	lost := w.h.Now()
	end := lost + w.long(1500*time.Millisecond, time.Minute)
	for n := 0; w.h.Now() < end; n++ {
		l := &written{key: fmt.Sprintf("new-%d", n), class: []string{"available", "strict"}[n%2]}
		w.everywhere(conns, l.key)
		if err := maker.write(w.t.Context(), l); err != nil {
			w.t.Fatal(err)
		}
		w.everywhere(conns, l.key)
		w.everywhere(conns, fmt.Sprintf("never-%d", n))
		if w.h.Now()-lost < w.long(500*time.Millisecond, 5*time.Second) {
			continue
		}
		lost = w.h.Now()
		for region, client := range clients {
			if err := remove(context.WithoutCancel(w.t.Context()), client, "wp:*:f"); err != nil {
				w.t.Fatalf("redis of %s: %v", region, err)
			}
		}
	}
}

// everywhere reads a link once by each of these connections, one to each edge.
func (w *world) everywhere(conns []*fleet.Conn, key string) {
	w.t.Helper()
	for i, conn := range conns {
		r := &reader{history: w.h, index: i}
		if !r.read(conn, int(w.load.Boots[i].Load()), key) {
			w.t.Fatalf("%s did not answer", w.Edges[i].Name)
		}
	}
}
