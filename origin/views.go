package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"waypost/shared/click"
)

// applied shows what was counted just now to those who have it in a live view,
// here and at other origins.
func (o *origin) applied(s *click.Stretch) {
	o.views.TakeStretch(s)
	o.viewers.Applied(s)
}

// registerViews adds the metrics of live views.
func (o *origin) registerViews() {
	o.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "waypost_live_views", Help: "Live views of clicks that are open at this origin.",
	}, func() float64 { return float64(o.views.Len()) }))
	for outcome, read := range map[string]func() uint64{
		"sent":    func() uint64 { return o.viewers.Stats().Sent },
		"dropped": func() uint64 { return o.viewers.Stats().Dropped },
		"damaged": func() uint64 { return o.viewers.Stats().Damaged },
	} {
		o.counter("waypost_live_messages_total",
			"Messages between origins about live views: clicks sent to another one, what was dropped, and what came damaged.",
			prometheus.Labels{"outcome": outcome}, read)
	}
}
