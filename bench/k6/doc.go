// Package k6 tests the scripts of this folder, which are for k6.
package k6
