// Package links holds the rules of a link at the origin: what may be created,
// changed and deleted, by whom, and in what order a write becomes a change that
// edges hear of.
package links
