package chaos

import (
	"time"

	"waypost/deploy/services"
)

// hurt is a fault that can go on while others do.
type hurt struct{ do, undo func() }

// hurts are in the order in which they are undone: what others need to start comes first.
func (w *world) hurts() []hurt {
	restart := func(server interface{ Kill() }, again func() error) hurt {
		return hurt{server.Kill, func() {
			if err := again(); err != nil {
				w.t.Fatal(err)
			}
		}}
	}
	all := []hurt{
		restart(w.Postgres, func() error { return w.Postgres.Restart(w.t.Context()) }),
		restart(w.NATS, func() error { return w.NATS.Restart(w.t.Context()) }),
		{w.NATS.Pause, w.NATS.Resume},
	}
	for _, server := range w.Redis {
		all = append(all, restart(server, func() error { return server.Restart(w.t.Context()) }))
	}
	for _, o := range w.Origins {
		all = append(all, hurt{o.Kill, func() { o.Launch(w.t) }}, hurt{o.Pause, o.Resume})
	}
	for i, e := range w.Edges {
		all = append(all, hurt{e.Pause, e.Resume}, hurt{e.Kill, func() {
			w.load.Boots[i].Add(1)
			e.Launch(w.t)
		}})
	}
	for _, region := range []string{"eu", "us"} {
		all = append(
			all,
			w.onPaths(region, (*services.Proxy).Cut, (*services.Proxy).Heal),
			w.onPaths(region, (*services.Proxy).Reset, func(*services.Proxy) {}),
			w.onPaths(region, func(p *services.Proxy) { p.Slow(slow) }, func(p *services.Proxy) { p.Slow(0) }),
			w.onPaths(region, func(p *services.Proxy) { p.Jitter(bound) }, func(p *services.Proxy) { p.Jitter(0) }),
		)
	}
	return all
}

// slow is a path that carries little more than the probes, in bytes a second.
const slow = 20_000

// onPaths hurts every path of a region.
func (w *world) onPaths(region string, do, undo func(p *services.Proxy)) hurt {
	each := func(hurt func(p *services.Proxy)) func() {
		return func() {
			for _, p := range w.paths(region) {
				hurt(p)
			}
		}
	}
	return hurt{each(do), each(undo)}
}

// allAtOnce lets some faults happen at the same time, again and again, while messages are lost.
func allAtOnce(w *world) {
	w.relay.Hurt(0.05)
	w.fault("all at once", func() {
		all := w.hurts()
		for range w.times(1, 12) {
			some := map[int]bool{}
			for range 2 + w.random.IntN(3) {
				some[w.random.IntN(len(all))] = true
			}
			for i := range all {
				if some[i] {
					all[i].do()
				}
			}
			w.pass(w.upTo(w.long(1500*time.Millisecond, 6*time.Second)))
			for i := range all {
				if some[i] {
					all[i].undo()
				}
			}
			for _, o := range w.Origins {
				o.AwaitReady(w.t)
			}
			for _, e := range w.Edges {
				e.AwaitReady(w.t)
			}
			w.pass(w.upTo(w.long(300*time.Millisecond, 3*time.Second)))
		}
		w.relay.Hurt(0)
	})
}
