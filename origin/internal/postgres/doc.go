// Package postgres keeps links, positions, the outbox of changes, members, keys
// and leases in PostgreSQL, which is the only truth.
package postgres
