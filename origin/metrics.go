package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"waypost/origin/internal/postgres"
	"waypost/origin/internal/stampede"
)

// register adds the metrics of the parts that keep their own counts, read at
// scrape time.
func (o *origin) register(store *postgres.Store, loader *stampede.Loader) {
	counter := func(name, help string, labels prometheus.Labels, read func() uint64) {
		o.registry.MustRegister(prometheus.NewCounterFunc(
			prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels},
			func() float64 { return float64(read()) }))
	}
	counter("waypost_link_reads_total", "Reads of a link from PostgreSQL for a fill.", nil, store.Loads)
	for outcome, read := range map[string]func(stampede.Stats) uint64{
		"loaded":        func(s stampede.Stats) uint64 { return s.Loaded },
		"joined":        func(s stampede.Stats) uint64 { return s.Joined },
		"shared":        func(s stampede.Stats) uint64 { return s.Shared },
		"waited_out":    func(s stampede.Stats) uint64 { return s.WaitedOut },
		"redis_failed":  func(s stampede.Stats) uint64 { return s.RedisFailed },
		"redis_skipped": func(s stampede.Stats) uint64 { return s.RedisSkipped },
		"refused":       func(s stampede.Stats) uint64 { return s.Refused },
	} {
		counter("waypost_fills_total",
			"Fills by what became of them; loaded counts reads begun, waited_out and redis_* are reasons of one.",
			prometheus.Labels{"outcome": outcome}, func() uint64 { return read(loader.Stats()) })
	}
	const changes = "Changes by whether they went to NATS; edges fetch what was dropped."
	counter("waypost_changes_total", changes, prometheus.Labels{"outcome": "published"},
		func() uint64 { return o.publisher.Stats().Published })
	counter("waypost_changes_total", changes, prometheus.Labels{"outcome": "dropped"},
		func() uint64 { return o.publisher.Stats().Dropped })
}
