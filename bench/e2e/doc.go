// Package e2e holds tests of a whole Waypost, seen from outside.
package e2e
