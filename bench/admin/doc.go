// Package admin measures what the admin API takes with few links and with a million, on a fleet of built binaries.
package admin
