// Package redirects measures what a redirect costs and how long it takes, on a fleet of built binaries, in turns with
// what people would use instead.
package redirects
