// Package wrk tests the scripts of this folder, which are for wrk.
package wrk
