// Package fleet starts a whole Waypost as real processes on free ports of 127.0.0.1, for tests that see it from
// outside only.
package fleet
