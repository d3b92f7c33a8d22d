// Package clicks measures what counting clicks costs and how well it works, on a fleet of built binaries.
package clicks
