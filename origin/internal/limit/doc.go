// Package limit says how fast API keys may create links, for all origins
// together.
package limit
