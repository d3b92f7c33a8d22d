package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"waypost/edge/internal/follow"
	"waypost/edge/internal/l2"
	"waypost/edge/internal/limit"
	"waypost/shared/feed"
)

// register shows what the parts count by themselves.
func register(reg prometheus.Registerer, table *feed.Table, follower *follow.Follower, limiter *limit.Limiter, second *l2.Cache) {
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
}
