package chaos

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"sync"

	"waypost/bench/fleet"
	"waypost/shared/failpoint"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// holderStopped lets visitors of all edges ask for one link at once while the origin that holds the link's lock is
// stopped, after it has read it: for a link that no edge has, and for one that was changed since then. The load is ended
// before, so that the reads of PostgreSQL can be counted.
func holderStopped(w *world) {
	w.stop()
	holder, other := w.Origins[0], w.load.Origins[1:]
	maker := &writer{history: w.h, origins: other, random: w.random}
	for n := range w.times(1, 5) {
		l := &written{key: fmt.Sprintf("%s-%d", w.load.Name+"-cold", n), class: "available"}
		if err := maker.write(w.t.Context(), l); err != nil {
			w.t.Fatal(err)
		}
		w.healthy()
		w.fault("the holder of a cold link's lock stopped", func() {
			w.stampede("cold", l, holder)
		})
		w.fault("the holder of a changed link's lock stopped", func() {
			update := func() {
				if err := maker.make(w.t.Context(), l, update(l.key, l.n+1)); err != nil {
					w.t.Fatal(err)
				}
			}
			update() // or the holder would find the last stampede's result
			w.stampede("changed", l, holder, func() {
				update()
				w.purge(other[0], "edges", l.key)
			})
		})
	}
}

// stampede stops the holder with the link's lock in its hands, changes the link, sends visitors to all edges, and again
// once the holder has gone on.
func (w *world) stampede(what string, l *written, holder *fleet.Origin, changes ...func()) {
	w.t.Helper()
	heads, err := holder.Heads(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	at := heads.Seq[feed.Shard(link.Key{Code: l.key}.Hash())]
	before := w.linkReads()
	holder.Arm(w.t, failpoint.EntryRead, failpoint.Stop)
	var asking sync.WaitGroup
	asking.Go(func() {
		query := url.Values{"domain": {""}, "code": {l.key}, "epoch": {fmt.Sprint(heads.Epoch)}, "min": {fmt.Sprint(at)}}
		_, _, _ = holder.Ask(w.t.Context(), "/v1/fill?"+query.Encode()) // what it says, late, is nobody's business
	})
	holder.AwaitHit(w.t, failpoint.EntryRead)
	for _, change := range changes {
		change()
	}
	w.rush(l.key)
	holder.Resume()
	asking.Wait()
	holder.AwaitReady(w.t)
	w.rush(l.key)
	reads := w.linkReads() - before
	w.result.Counts["most reads of PostgreSQL, "+what] = max(w.result.Counts["most reads of PostgreSQL, "+what], reads)
	// One of the holder, and one for each edge at the most, however many visitors it has.
	if most := 1 + len(w.Edges); reads > most {
		w.t.Errorf("%s link %s: %d reads of PostgreSQL, want at most %d", what, l.key, reads, most)
	}
}

// rush reads a link by many connections to each edge at once. Each must be answered, with where the link leads.
func (w *world) rush(key string) {
	w.t.Helper()
	each := w.times(50, 250)
	var open, done sync.WaitGroup
	open.Add(each * len(w.Edges))
	failed := make(chan error, each*len(w.Edges))
	for i, e := range w.Edges {
		for range each {
			done.Go(func() { failed <- w.visit(w.t.Context(), e, i, key, &open) })
		}
	}
	done.Wait()
	close(failed)
	var errs []error
	for err := range failed {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		w.t.Errorf("%d of %d visitors went wrong, the first: %v", len(errs), each*len(w.Edges), errs[0])
	}
}

// visit reads a link once all of a rush have their connections.
func (w *world) visit(ctx context.Context, e *fleet.Edge, index int, key string, open *sync.WaitGroup) error {
	conn, err := fleet.Connect(ctx, e.Addr, netip.Addr{})
	open.Done()
	if err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	defer conn.Close() //nolint:errcheck // its answer is here
	open.Wait()
	r := &reader{history: w.h, index: index}
	read, ok := r.once(conn, int(w.load.Boots[index].Load()), key)
	if !ok || read.Status != http.StatusFound {
		return fmt.Errorf("%s: %s was not answered by a redirect: %s", e.Name, key, read)
	}
	return nil
}

// linkReads counts the origins' reads of links for fills.
func (w *world) linkReads() (sum int) {
	w.t.Helper()
	for _, o := range w.Origins {
		sum += int(o.Metric(w.t, "waypost_link_reads_total"))
	}
	return sum
}

// purge makes every edge forget what it holds of links. One that is deleted just then is missing in the answer, which is
// fine.
func (w *world) purge(origin *fleet.API, ack string, codes ...string) {
	w.t.Helper()
	answer, err := origin.Do(w.t.Context(), http.MethodPost, "/purge?ack="+ack, fleet.Fields{"codes": codes})
	if err != nil || answer.Status != http.StatusOK {
		w.t.Fatalf("purge: %v, status %d: %s", err, answer.Status, answer.Body)
	}
}
