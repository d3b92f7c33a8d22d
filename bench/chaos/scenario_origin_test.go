package chaos

import "time"

// originKilled kills one origin after the other in the middle of whatever they are doing.
func originKilled(w *world) {
	for i := range w.times(2, 100) {
		origin := w.Origins[i%len(w.Origins)]
		w.pass(w.upTo(300 * time.Millisecond))
		w.fault(origin.Name+" killed", func() {
			origin.Kill()
			w.pass(w.upTo(300 * time.Millisecond))
			origin.Start(w.t)
		})
	}
}

// postgresKilled kills PostgreSQL, which recovers when it comes back.
func postgresKilled(w *world) {
	for range w.times(1, 10) {
		w.fault("PostgreSQL killed", func() {
			w.Postgres.Kill()
			w.pass(w.upTo(w.long(500*time.Millisecond, 5*time.Second)))
			if err := w.Postgres.Restart(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
			for _, o := range w.Origins {
				o.AwaitReady(w.t)
			}
		})
		w.pass(w.long(300*time.Millisecond, 3*time.Second))
	}
}
