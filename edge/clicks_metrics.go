package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"waypost/edge/internal/clicks/spool"
	"waypost/edge/internal/visitor"
)

// registerClicks shows what becomes of clicks, and what is known of visitors.
func registerClicks(reg prometheus.Registerer, clicks *counting, facts *visitor.Facts) {
	counter := func(name, help string, value func() uint64) {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(value()) }))
	}
	gauge := func(name, help string, value func() float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	counter("waypost_edge_clicks_unsalted_total", "Visitors whose day had no salt, so that they count among no unique visitors.",
		func() uint64 { return facts.Stats().Unsalted })
	gauge("waypost_edge_countries_built_timestamp_seconds", "When the file of addresses' countries was made; 0 for none.",
		func() float64 { return float64(facts.Stats().CountriesBuilt) })
	if clicks == nil {
		return
	}
	stats := clicks.Stats
	counter("waypost_edge_clicks_shipped_total", "Clicks that the origin is known to have.",
		func() uint64 { return stats().Shipped })
	counter("waypost_edge_clicks_stretches_total", "Stretches of clicks that the origin has applied.",
		func() uint64 { return stats().Stretches })
	counter("waypost_edge_clicks_retries_total", "Stretches sent in vain.",
		func() uint64 { return stats().Retries })
	counter("waypost_edge_clicks_lost_total", "Clicks that neither disk nor memory had room for; must stay 0.",
		func() uint64 { return stats().Lost })
	counter("waypost_edge_clicks_folded_total", "Clicks that were added up to make room on disk.",
		func() uint64 { return stats().Folded })
	counter("waypost_edge_clicks_late_voids_total", "Clicks that were counted although their answer was none.",
		func() uint64 { return stats().LateVoids })
	counter("waypost_edge_clicks_unreadable_total", "Records of a newer version, left out.",
		func() uint64 { return stats().Unreadable })
	counter("waypost_edge_clicks_missing_bytes_total", "Bytes of logs that the origin asked for when they were gone.",
		func() uint64 { return stats().Missing })
	counter("waypost_edge_clicks_refused_total", "Clicks that no origin takes; they are in quarantine. Must stay 0.",
		func() uint64 { return stats().Refused })
	counter("waypost_edge_clicks_damaged_total", "Clicks in files that cannot be read, as far as their number is known; they are in quarantine.",
		func() uint64 { return stats().Damaged })
	gauge("waypost_edge_clicks_quarantined_files", "Files in quarantine, refused or damaged, that wait for somebody to look at them.",
		func() float64 { return float64(stats().Quarantined) })
	gauge("waypost_edge_clicks_quarantined_bytes", "Bytes of files in quarantine.",
		func() float64 { return float64(stats().QuarantineBytes) })
	gauge("waypost_edge_clicks_in_memory", "Clicks that only memory holds: what a kill would lose.",
		func() float64 { return float64(stats().InMemory) })
	gauge("waypost_edge_clicks_behind_seconds", "Age of the oldest click that no origin has taken.",
		func() float64 { return stats().Behind.Seconds() })
	gauge("waypost_edge_clicks_behind_bytes", "Bytes on disk that no origin has taken.",
		func() float64 { return float64(stats().BehindSize) })
	gauge("waypost_edge_clicks_disk_bytes", "Bytes of clicks on disk.",
		func() float64 { return float64(stats().Disk) })
	gauge("waypost_edge_clicks_over_budget", "1 while clicks take more disk than they may.",
		func() float64 { return number(stats().OverBudget) })
	if clicks.spool != nil {
		registerSpool(counter, gauge, clicks.spool)
	}
}

func registerSpool(counter func(name, help string, value func() uint64), gauge func(name, help string, value func() float64), s *spool.Spool) {
	counter("waypost_edge_spool_frames_total", "Records of clicks written to disk.",
		func() uint64 { return s.Stats().Frames })
	counter("waypost_edge_spool_held_total", "Records that the disk did not take within the append limit; they wait in memory.",
		func() uint64 { return s.Stats().Held })
	counter("waypost_edge_spool_refused_total", "Records that were counted in memory because too many waited for the disk.",
		func() uint64 { return s.Stats().Refused })
	counter("waypost_edge_spool_failures_total", "Writes that the disk refused.",
		func() uint64 { return s.Stats().Failures })
	counter("waypost_edge_spool_damaged_total", "Segments of which a part could not be read.",
		func() uint64 { return s.Stats().Damaged })
	gauge("waypost_edge_spool_held_bytes", "Bytes of records that wait for the disk: what a kill would lose.",
		func() float64 { return float64(s.Stats().HeldBytes) })
	gauge("waypost_edge_spool_stalled", "1 while the disk does not keep up.",
		func() float64 { return number(s.Stats().Stalled) })
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
