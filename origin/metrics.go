package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"waypost/origin/internal/edges"
	"waypost/origin/internal/limit"
	"waypost/origin/internal/postgres"
	"waypost/origin/internal/stampede"
)

// counter registers a count that is kept elsewhere.
func (o *origin) counter(name, help string, labels prometheus.Labels, read func() uint64) {
	o.registry.MustRegister(prometheus.NewCounterFunc(
		prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels},
		func() float64 { return float64(read()) }))
}

// register adds the metrics of the parts that keep their own counts, read at
// scrape time.
func (o *origin) register(store *postgres.Store, loader *stampede.Loader) {
	o.counter("waypost_link_reads_total", "Reads of a link from PostgreSQL for a fill.", nil, store.Loads)
	for outcome, read := range map[string]func(stampede.Stats) uint64{
		"loaded":        func(s stampede.Stats) uint64 { return s.Loaded },
		"joined":        func(s stampede.Stats) uint64 { return s.Joined },
		"shared":        func(s stampede.Stats) uint64 { return s.Shared },
		"waited_out":    func(s stampede.Stats) uint64 { return s.WaitedOut },
		"redis_failed":  func(s stampede.Stats) uint64 { return s.RedisFailed },
		"redis_skipped": func(s stampede.Stats) uint64 { return s.RedisSkipped },
		"refused":       func(s stampede.Stats) uint64 { return s.Refused },
	} {
		o.counter("waypost_fills_total",
			"Fills by what became of them; loaded counts reads begun, waited_out and redis_* are reasons of one.",
			prometheus.Labels{"outcome": outcome}, func() uint64 { return read(loader.Stats()) })
	}
	const stretches = "Stretches of clicks by whether they were counted; repeated ones did not begin at their log's mark."
	for outcome, read := range map[string]func(postgres.ClickStats) uint64{
		"applied":  func(s postgres.ClickStats) uint64 { return s.Stretches },
		"repeated": func(s postgres.ClickStats) uint64 { return s.Repeated },
	} {
		o.counter("waypost_stretches_total", stretches, prometheus.Labels{"outcome": outcome}, func() uint64 { return read(store.ClickStats()) })
	}
	o.counter("waypost_clicks_applied_total", "Clicks in stretches that this origin counted.", nil,
		func() uint64 { return store.ClickStats().Clicks })
	o.counter("waypost_clicks_moved_total", "Clicks counted at the nearest hour that is allowed, because their edge named one too far off.", nil,
		func() uint64 { return store.ClickStats().Moved })
	o.counter("waypost_clicks_damaged_total", "Columns of counters found damaged; clicks go on to be counted. Must stay 0.", nil,
		func() uint64 { return store.ClickStats().Damaged })
	const changes = "Changes by whether they went to NATS; edges fetch what was dropped."
	o.counter("waypost_changes_total", changes, prometheus.Labels{"outcome": "published"},
		func() uint64 { return o.publisher.Stats().Published })
	o.counter("waypost_changes_total", changes, prometheus.Labels{"outcome": "dropped"},
		func() uint64 { return o.publisher.Stats().Dropped })
}

// registerFleet adds the metrics of what has to do with edges.
func (o *origin) registerFleet(f *fleet) {
	o.registry.MustRegister(f.barrier.seconds, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "waypost_edges", Help: "Edges that are members, as last read: writes wait for them.",
	}, func() float64 { return float64(f.rosters.Members()) }))
	o.counter("waypost_edges_silent_total", "Edges that a write waited for in vain, once for each wait.", nil, f.barrier.Silent)
	for way, by := range map[string]edges.Way{"nats": edges.ByNATS, "shared": edges.ByShare, "http": edges.ByHTTP, "probe": edges.ByProbe} {
		o.counter("waypost_acks_total", "Acknowledgements of edges, by the way they came.",
			prometheus.Labels{"way": way}, func() uint64 { return f.tracker.Taken(by) })
	}
	for outcome, read := range map[string]func() uint64{
		"sent":    func() uint64 { return f.sharer.Stats().Shared },
		"dropped": func() uint64 { return f.sharer.Stats().Dropped },
	} {
		o.counter("waypost_acks_passed_on_total", "Acknowledgements that came to this origin alone, by whether the others were told by NATS.",
			prometheus.Labels{"outcome": outcome}, read)
	}
	for outcome, read := range map[string]func() uint64{
		"answered": func() uint64 { return f.probes.Stats().Answered },
		"refused":  func() uint64 { return f.probes.Stats().Refused + f.inbox.Stats().Crowded },
	} {
		o.counter("waypost_probes_total", "Probes of edges by whether they were answered.",
			prometheus.Labels{"outcome": outcome}, read)
	}
	o.counter("waypost_joins_total", "Edges that joined, or joined again.", nil, func() uint64 { return f.probes.Stats().Joined })
	o.counter("waypost_epoch_bumps_total", "Epochs begun because an edge was ahead of PostgreSQL.", nil,
		func() uint64 { return f.probes.Stats().Bumped })
	o.counter("waypost_nats_damaged_total", "Messages by NATS that were neither probes nor acknowledgements.", nil,
		func() uint64 { return f.inbox.Stats().Damaged })
}

// registerLimits adds the metrics of what keys may create.
func (o *origin) registerLimits(limiter *limit.Limiter) {
	for outcome, read := range map[string]func(limit.Stats) uint64{
		"given":   func(s limit.Stats) uint64 { return s.Given },
		"refused": func(s limit.Stats) uint64 { return s.Refused },
	} {
		o.counter("waypost_create_tokens_total", "Tokens that creations of links asked for, by whether there were any.",
			prometheus.Labels{"outcome": outcome}, func() uint64 { return read(limiter.Stats()) })
	}
	o.counter("waypost_create_limits_alone_total", "Decisions about creations that this origin made without Redis.", nil,
		func() uint64 { return limiter.Stats().Alone })
}
