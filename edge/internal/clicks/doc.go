// Package clicks counts every redirect once: a record into the spool before the
// answer goes out, stretches of records added up and sent to the origin, and
// what to do when disk, memory or origin do not keep up.
package clicks
