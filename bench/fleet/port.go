package fleet

import (
	"testing"

	"waypost/deploy/freeport"
)

// freeAddr returns an address of 127.0.0.1 that is the caller's until the tests end.
func freeAddr(tb testing.TB) string {
	tb.Helper()
	addr, err := freeport.Find(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return addr
}
