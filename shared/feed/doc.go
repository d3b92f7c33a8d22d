// Package feed is the positions protocol as pure code: entries, changes and
// heads with their bytes, and the floors by which an edge decides whether what
// it holds may still be served. It does no I/O, has no clock and starts no
// goroutine.
package feed
