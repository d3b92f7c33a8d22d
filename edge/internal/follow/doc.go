// Package follow keeps an edge's positions: it applies the feed's changes in
// order, probes for the heads, by which leases run, fetches what is missing,
// acknowledges what is applied, and keeps all of it over a restart.
package follow
