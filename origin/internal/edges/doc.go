// Package edges knows which edges there are and how far each has got: it
// answers their probes, keeps their acknowledgements, and is the barrier that a
// write waits at.
package edges
