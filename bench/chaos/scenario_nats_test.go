package chaos

import "time"

// natsDead takes NATS away, then stops it where it is. Neither is a fault that an edge may notice.
func natsDead(w *world) {
	w.NATS.Kill()
	w.pass(w.long(1200*time.Millisecond, 30*time.Second))
	if err := w.NATS.Restart(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.pass(w.long(200*time.Millisecond, 3*time.Second))
	w.NATS.Pause()
	w.pass(w.long(1200*time.Millisecond, 15*time.Second))
	w.NATS.Resume()
	w.pass(w.long(200*time.Millisecond, 3*time.Second))
}
