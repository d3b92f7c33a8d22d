// Package codes makes codes for links that were given no alias.
package codes
