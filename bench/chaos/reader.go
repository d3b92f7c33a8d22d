package chaos

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"waypost/bench/fleet"
)

// reader is a visitor of one edge who keeps a connection alive.
type reader struct {
	history *History
	edge    *fleet.Edge
	index   int           // of the edge
	boot    *atomic.Int64 // of the edge, raised between two of its runs
	keys    []string
	every   time.Duration // between two reads
	pick    func() uint64 // the index of the next key
}

// run reads until ctx ends.
func (r *reader) run(ctx context.Context) {
	ticker := time.NewTicker(r.every)
	defer ticker.Stop()
	var conn *fleet.Conn
	var boot int
	for {
		select {
		case <-ctx.Done():
			if conn != nil {
				_ = conn.Close()
			}
			return
		case <-ticker.C:
		}
		if conn == nil {
			conn, boot = r.connect(ctx)
		}
		if conn != nil && !r.read(conn, boot, r.keys[r.pick()]) {
			_ = conn.Close()
			conn = nil
		}
	}
}

// connect makes a connection to one boot of the edge, nil where that cannot be now.
func (r *reader) connect(ctx context.Context) (conn *fleet.Conn, boot int) {
	before := r.boot.Load()
	conn, err := fleet.Connect(ctx, r.edge.Addr, netip.Addr{})
	if err != nil {
		return nil, 0
	}
	if r.boot.Load() != before { // which boot accepted it cannot be told
		_ = conn.Close()
		return nil, 0
	}
	return conn, int(before)
}

// read reads one link and reports whether the connection is still of use.
func (r *reader) read(conn *fleet.Conn, boot int, key string) bool {
	_, more := r.once(conn, boot, key)
	return more
}

// once reads one link. more is whether the connection is still of use; the read is zero where there was no answer.
func (r *reader) once(conn *fleet.Conn, boot int, key string) (read Read, more bool) {
	invoked := r.history.Now()
	reply, err := conn.Ask(fleet.Request{Path: "/" + key})
	answered := r.history.Now()
	if err != nil {
		r.history.Lost()
		return Read{}, false
	}
	sight := Sight{Status: reply.Status}
	if to := reply.Location(); to != "" {
		sight.Version = versionOf(key, to)
	}
	read = Read{
		Edge: r.index, Boot: boot, Key: key, Invoked: invoked, Answered: answered,
		Sight: sight, Marked: reply.Tier() == "stale",
	}
	r.history.Read(read)
	return read, !reply.Close
}
