package chaos

import "time"

// regionCut cuts a region off from the origins and NATS, while its links go on being changed elsewhere.
func regionCut(w *world) {
	w.fault("region us cut off", func() {
		for _, p := range w.paths("us") {
			p.Cut()
		}
		w.pass(w.long(1600*time.Millisecond, time.Minute))
		for _, p := range w.paths("us") {
			p.Heal()
		}
	})
}

// edgeStopped stops an edge where it is, then kills one, which comes back with empty hands.
func edgeStopped(w *world) {
	for i := range w.times(1, 3) {
		stopped, killed := w.Edges[i%len(w.Edges)], (i+1)%len(w.Edges)
		w.fault(stopped.Name+" stopped", func() {
			stopped.Pause()
			w.pass(w.long(1100*time.Millisecond, 5*time.Second))
			stopped.Resume()
			w.pass(bound) // what it had been asked meanwhile is answered, marked, before its next probe is
		})
		w.pass(w.long(0, time.Second))
		w.fault(w.Edges[killed].Name+" killed", func() { w.reboot(killed) })
		w.pass(w.long(0, time.Second))
	}
}
