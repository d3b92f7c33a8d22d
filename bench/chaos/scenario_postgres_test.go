package chaos

import "time"

// postgresKilled kills PostgreSQL, which recovers when it comes back.
func postgresKilled(w *world) {
	for range w.times(1, 6) {
		w.fault("PostgreSQL killed", func() {
			w.Postgres.Kill()
			w.pass(w.upTo(w.long(500*time.Millisecond, 5*time.Second)))
			if err := w.Postgres.Restart(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
			w.originsReady()
		})
		w.pass(w.long(300*time.Millisecond, 3*time.Second))
	}
}

// postgresRestored takes PostgreSQL back to a copy that lacks the last moments, which nothing about the server tells.
// The edges show it by positions that it does not have. In a second round all of them have been started anew meanwhile,
// and the operator has to say so.
func postgresRestored(w *world) {
	lacks := []time.Duration{w.long(time.Second, time.Minute), 10 * time.Second}
	for round := range w.times(1, len(lacks)) {
		from := w.h.Now()
		if err := w.Postgres.Backup(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		c := copied{from: from, until: w.h.Now()}
		w.pass(lacks[round])
		w.stop()
		w.last()
		w.goBack(c, round == 1)
		w.begin()
		w.pass(w.long(500*time.Millisecond, 5*time.Second))
	}
}

// goBack puts the copy back while visitors read. All that was written and read until now is one history. What is read
// meanwhile is another one, in which each edge may go back to the copy, once. A third one begins with the copy when all
// edges have gone.
func (w *world) goBack(c copied, unseen bool) {
	w.t.Helper()
	w.settle()
	written := w.h
	w.anew()
	w.stand()
	epoch, err := w.epoch()
	if err != nil {
		w.t.Fatal(err)
	}
	writers := w.load.Writers
	w.load.Writers = 0
	w.begin()
	w.fault("PostgreSQL restored", func() {
		if unseen {
			for _, e := range w.Edges {
				e.Kill()
			}
		}
		if err := w.Postgres.Restore(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		if unseen {
			w.Origins[0].Command(w.t, "epoch", "bump")
			w.launchEdges()
		}
		w.originsReady()
		w.awaitEpochAfter(epoch)
	})
	w.stop()
	w.load.Writers = writers
	for _, l := range w.load.links {
		w.takeBack(l, written.writes[l.key], c)
	}
	w.anew()
	w.stand()
}
