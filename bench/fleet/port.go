package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// freeAddr returns an address of 127.0.0.1 that nobody listens on. Its port lies below those that Linux gives to
// outgoing connections (32768 and up), so that it is still free when a process is started again on it.
func freeAddr(tb testing.TB) string {
	tb.Helper()
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 12000+rand.N(20000)) //nolint:gosec // any port will do
		if free(tb.Context(), addr) {
			return addr
		}
	}
	tb.Fatal("no free port on 127.0.0.1")
	return ""
}

func free(ctx context.Context, addr string) bool {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	return l.Close() == nil
}
