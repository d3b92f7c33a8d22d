// Package measure holds what all measurements of a running Waypost share: the run and how much of everything it does,
// loads by the clock, samples, figures with their bars, and the report of them.
package measure
