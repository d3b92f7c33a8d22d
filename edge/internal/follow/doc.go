// Package follow keeps an edge's positions: it applies the feed's changes in
// order, learns the heads, and fetches what is missing.
package follow
