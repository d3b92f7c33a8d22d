// Package postgres keeps links, positions, the outbox of changes, keys and
// leases in PostgreSQL, which is the only truth.
package postgres
