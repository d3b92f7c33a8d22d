// Package profile takes profiles of an edge while it answers a load, and tells where the CPU of a redirect goes.
package profile
