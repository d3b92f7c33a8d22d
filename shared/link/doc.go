// Package link holds the words both services use for a link: its key, its
// fields, and the rules by which aliases, targets, queries and suffixes are
// parsed, merged and refused.
package link
