// Package stampede lets one load of a key serve everyone who asks for it: in
// this process by joining it, among all origins by a lock in their Redis.
package stampede
