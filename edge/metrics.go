package main

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"waypost/edge/internal/audit"
	"waypost/edge/internal/follow"
	"waypost/edge/internal/l2"
	"waypost/edge/internal/limit"
	"waypost/shared/feed"
)

// newLag registers and returns the measure of how long changes take to get
// here, by PostgreSQL's clock as estimated by the probes.
func newLag(reg prometheus.Registerer) func(time.Duration) {
	lag := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "waypost_edge_change_lag_seconds", Help: "Time from a change's write at the origin to its being applied here.",
		Buckets: []float64{0.5e-3, 1e-3, 2e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 5, 60},
	})
	reg.MustRegister(lag)
	return func(d time.Duration) { lag.Observe(max(d, 0).Seconds()) }
}

// register shows what the parts count by themselves.
func register(reg prometheus.Registerer, table *feed.Table, follower *follow.Follower, limiter *limit.Limiter, second *l2.Cache, auditor *audit.Auditor) {
	counter := func(name, help string, value func() uint64) {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(value()) }))
	}
	gauge := func(name, help string, value func() float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	gauge("waypost_edge_epoch", "Epoch of the positions that this edge holds.", func() float64 {
		epoch, _, _ := table.Position(feed.ConfigShard)
		return float64(epoch)
	})
	gauge("waypost_edge_feed_position", "Sum of the applied positions of all shards.", func() float64 {
		var sum uint64
		for shard := range feed.AllShards {
			_, applied, _ := table.Position(shard)
			sum += applied
		}
		return float64(sum)
	})
	counter("waypost_edge_feed_gaps_total", "Times a missing change was noticed.",
		func() uint64 { return follower.Stats().Gaps })
	counter("waypost_edge_feed_caught_up_total", "Changes that came from the origin instead of the feed.",
		func() uint64 { return follower.Stats().CaughtUp })
	counter("waypost_edge_feed_dropped_total", "Feed messages dropped because too many waited.",
		func() uint64 { return follower.Stats().Dropped })
	counter("waypost_edge_feed_repaired_total", "Gaps that were closed again.",
		func() uint64 { return follower.Stats().Repaired })
	counter("waypost_edge_suspends_total", "Times the machine was found to have been suspended.",
		func() uint64 { return follower.Stats().Suspends })
	gauge("waypost_edge_lease_age_seconds", "Time since the oldest lease of a shard.",
		func() float64 { return follower.LeaseAge().Seconds() })
	gauge("waypost_edge_bound_seconds", "How old an unmarked answer may be, as the origins say.",
		func() float64 { return follower.Bound().Seconds() })
	gauge("waypost_edge_probe_round_seconds", "Round trip of the probes.",
		func() float64 { return follower.Round().Seconds() })
	counter("waypost_edge_audited_total", "Answers checked against the origin's history.",
		func() uint64 { return auditor.Stats().Checked })
	counter("waypost_edge_stale_served_total", "Unmarked answers found to be older than the bound; must stay 0.",
		func() uint64 { return auditor.Stats().Stale })
	gauge("waypost_edge_region_writer", "1 while this edge keeps its region's Redis in step.", func() float64 {
		if second.Stats().Writer {
			return 1
		}
		return 0
	})
	gauge("waypost_edge_filter_fill", "Keys in the fullest Bloom filter against those it is laid out for, where this edge is the region's writer.",
		func() float64 { return second.Stats().Fill })
	counter("waypost_edge_limit_admitted_total", "Requests admitted by the rate limiter.",
		func() uint64 { return limiter.Stats().Admitted })
	counter("waypost_edge_limit_refused_total", "Requests refused by the rate limiter.",
		func() uint64 { return limiter.Stats().Limited })
	counter("waypost_edge_l2_lookups_total", "Lookups in Redis.",
		func() uint64 { return second.Stats().Lookups })
	counter("waypost_edge_l2_hits_total", "Lookups that found a value.",
		func() uint64 { return second.Stats().Hits })
	counter("waypost_edge_l2_faults_total", "Lookups that Redis did not answer.",
		func() uint64 { return second.Stats().Faults })
	counter("waypost_edge_l2_skipped_total", "Lookups not sent because Redis was known not to answer.",
		func() uint64 { return second.Stats().Skipped })
	counter("waypost_edge_l2_stores_total", "Entries sent to Redis.",
		func() uint64 { return second.Stats().Stores })
	counter("waypost_edge_l2_dropped_total", "Entries not sent to Redis: queue full or a fault.",
		func() uint64 { return second.Stats().Dropped })
	counter("waypost_edge_filter_negatives_total", "Lookups that the Bloom filter answered with no.",
		func() uint64 { return second.Stats().Negatives })
	counter("waypost_edge_filter_rebuilds_total", "Bloom filters built anew by this edge.",
		func() uint64 { return second.Stats().Rebuilds })
	counter("waypost_edge_filter_distrusts_total", "Bloom filters found to be wrong.",
		func() uint64 { return second.Stats().Distrusts })
	gauge("waypost_edge_filters", "Usable Bloom filters at the last check, of one for each shard.",
		func() float64 { return float64(second.Stats().Filters) })
	gauge("waypost_edge_filter_lag", "Positions by which the furthest Bloom filter lagged behind this edge at the last check.",
		func() float64 { return float64(second.Stats().Lag) })
	for shard := range feed.Shards {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "waypost_edge_filter_generation", Help: "Generation of a shard's Bloom filter at the last check: another number is another filter; 0: there is none.",
			ConstLabels: prometheus.Labels{"shard": strconv.Itoa(shard)},
		}, func() float64 { return float64(second.Generation(shard)) }))
	}
}
