// Package limit admits or refuses a visitor's request by one token bucket per
// client, kept in the region's Redis and, bounded, in the memory of each edge.
package limit
