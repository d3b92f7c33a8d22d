package fleet

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"waypost/deploy/services"
)

// durableLimit bounds the start and the stop of a durable cluster.
const durableLimit = time.Minute

// durableBuffers is the memory of a measured database, in MiB: a quarter of a
// server's 4 GiB, as PostgreSQL's manual has it (20.4.1).
const durableBuffers = 1024

// durablePostgres starts a cluster whose commits are on disk when they return. The other clusters of tests do not wait
// for the disk, which makes every write look cheaper than it is.
func durablePostgres(tb testing.TB) *services.PostgresServer {
	tb.Helper()
	dir, err := os.MkdirTemp("", "waypost-durable-") //nolint:usetesting // TempDir's parents let no other user pass
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Errorf("remove the cluster: %v", err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // PostgreSQL's user must pass; the cluster is 0700
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(tb.Context(), durableLimit)
	defer cancel()
	pg, err := services.StartPostgres(ctx, services.PostgresConfig{Dir: filepath.Join(dir, "cluster"), Buffers: durableBuffers})
	if err != nil {
		tb.Fatalf("durable PostgreSQL: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), durableLimit)
		defer cancel()
		if err := pg.Stop(ctx); err != nil {
			tb.Errorf("stop PostgreSQL: %v", err)
		}
	})
	return pg
}
