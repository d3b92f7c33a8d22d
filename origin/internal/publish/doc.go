// Package publish tells edges of committed changes by core NATS. It is for
// speed only: what is lost here the edges find by their probes and fetch.
package publish
