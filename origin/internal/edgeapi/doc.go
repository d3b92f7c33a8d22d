// Package edgeapi is the origin's internal listener: what edges fetch from it
// and tell it over HTTP, which works without NATS.
package edgeapi
