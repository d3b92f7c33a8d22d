// Package publish is the origin's side of core NATS: it tells edges of committed
// changes, and hears their acknowledgements and probes. It is for speed only:
// what is lost here the edges find by their probes and fetch, and they have HTTP
// for the rest.
package publish
