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
	end := w.h.Now() + w.long(1500*time.Millisecond, 30*time.Second)
	w.makeLinks(func() bool { return w.h.Now() < end })
}

// makeLinks makes one link after the other while it is to go on, losing all filters now and then, and returns how often
// a filter was swapped.
func (w *world) makeLinks(goOn func() bool) (swapped int) {
	w.t.Helper()
	conns := w.connections()
	filters := newGenerations(w.redisClients())
	maker := &writer{history: w.h, origins: w.load.Origins, random: w.load.random(4, 0)}
	lost := w.h.Now()
	for n := 0; goOn(); n++ {
		l := &written{key: fmt.Sprintf("%s-new-%d", w.load.Name, n), class: []string{"available", "strict"}[n%2]}
		w.everywhere(conns, l.key)
		if err := maker.write(w.t.Context(), l); err != nil {
			w.t.Fatal(err)
		}
		w.everywhere(conns, l.key)
		w.everywhere(conns, fmt.Sprintf("%s-never-%d", w.load.Name, n))
		w.result.Counts["links made, read at once in all regions"]++
		if w.h.Now()-lost < w.long(500*time.Millisecond, 5*time.Second) {
			continue
		}
		lost = w.h.Now()
		if err := filters.lose(context.WithoutCancel(w.t.Context())); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := filters.look(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.result.Counts["filters swapped"] = filters.swapped
	return filters.swapped
}

// connections are one to each edge, until the test ends.
func (w *world) connections() []*fleet.Conn {
	w.t.Helper()
	conns := make([]*fleet.Conn, len(w.Edges))
	for i, e := range w.Edges {
		conn, err := fleet.Connect(w.t.Context(), e.Addr, netip.Addr{})
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = conn.Close() })
		conns[i] = conn
	}
	return conns
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
