// Package publish is the origin's side of core NATS: it tells edges of committed
// changes, hears their acknowledgements and probes, and carries clicks to the
// origins that have them in a live view. It is for speed only: what edges lose
// here they find by their probes and fetch, and they have HTTP for the rest.
package publish
