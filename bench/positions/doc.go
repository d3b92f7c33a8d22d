// Package positions measures what keeping edges in step costs and how well it works, on a fleet of built binaries.
package positions
