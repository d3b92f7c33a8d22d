// Package peers starts what people would use instead of Waypost, and what bounds it, each with the same links on a core
// of its own; README.md says how each is configured and why.
package peers
