package services

import (
	"context"
	"errors"
	"testing"
	"time"

	"waypost/deploy/process"
)

// testLimit bounds one service call of a test helper, a build of the NATS server included.
const testLimit = 3 * time.Minute

// Postgres returns the URL of a fresh, empty database in the cluster that all tests of this process share. The role
// is a superuser. The database is dropped at the test's end, with the sessions it still has.
//
// The cluster starts at the first call and ends with the process: at once with TestMain as Main shows, else by the
// kernel's death signal. A test that wants to stop or pause PostgreSQL takes PrivatePostgres.
func Postgres(tb testing.TB) string {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), testLimit)
	defer cancel()
	pg, name, err := shared.database(ctx)
	if err != nil {
		tb.Fatalf("PostgreSQL for the test: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), stopLimit)
		defer cancel()
		if err := pg.dropDatabase(ctx, name); err != nil {
			tb.Errorf("drop the test's database: %v", err)
		}
	})
	return pg.DatabaseURL(name)
}

// PrivatePostgres starts a cluster for this test alone, to stop, pause and restart; about a second. It is gone at
// the test's end.
func PrivatePostgres(tb testing.TB) *PostgresServer {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), testLimit)
	defer cancel()
	folder, err := newFolder()
	if err != nil {
		tb.Fatalf("folder for PostgreSQL: %v", err)
	}
	tb.Cleanup(folder.remove)
	pg, err := StartPostgres(ctx, PostgresConfig{Dir: folder.cluster(), Unsafe: true})
	if err != nil {
		tb.Fatalf("PostgreSQL for the test: %v", err)
	}
	stopAtEnd(tb, pg)
	return pg
}

// Redis starts a Redis for this test alone; some 20 ms. A Restart keeps the data of a polite stop, a Kill loses
// them. It is gone at the test's end.
func Redis(tb testing.TB) *RedisServer {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), testLimit)
	defer cancel()
	r, err := StartRedis(ctx, RedisConfig{Dir: tb.TempDir(), Snapshot: true})
	if err != nil {
		tb.Fatalf("Redis for the test: %v", err)
	}
	stopAtEnd(tb, r)
	return r
}

// NATS starts a NATS server for this test alone. The first call of a process runs `go build`. It is gone at the
// test's end.
func NATS(tb testing.TB) *NATSServer {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), testLimit)
	defer cancel()
	binary, err := shared.local(ctx)
	if err != nil {
		tb.Fatalf("NATS for the test: %v", err)
	}
	n, err := StartNATS(ctx, NATSConfig{Dir: tb.TempDir(), Binary: binary})
	if err != nil {
		tb.Fatalf("NATS for the test: %v", err)
	}
	stopAtEnd(tb, n)
	return n
}

// stopper is any server here.
type stopper interface {
	Stop(ctx context.Context) error
}

func stopAtEnd(tb testing.TB, s stopper) {
	tb.Helper()
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), stopLimit)
		defer cancel()
		if err := s.Stop(ctx); err != nil && !errors.Is(err, process.ErrKilled) {
			tb.Errorf("stop: %v", err)
		}
	})
}
