// Package load asks a server over many connections from one thread, checks every answer, and tells how many there
// were, how long they took from the time at which they should have been asked for, and what the asking itself cost.
package load
