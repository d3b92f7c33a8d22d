package postgres_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"waypost/deploy/services"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// awaitLocks returns once so many sessions of the database wait for a lock.
func awaitLocks(t *testing.T, url string, want int) {
	t.Helper()
	ctx, conn := guard(t), connect(t, url)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		var n int
		err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n)
		if err != nil {
			t.Fatalf("pg_stat_activity: %v", err)
		}
		if n >= want {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%d sessions wait for a lock, want %d", n, want)
		}
	}
}

// guard ends a test whose calls would never return.
func guard(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestEdgesAreAnsweredWhileWritersAreStuck(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	openStore(t, url)
	const conns, writers = 4, 24
	s, err := postgres.Open(t.Context(), postgres.Config{
		URL: url, MaxConns: conns, StatementTimeout: time.Minute, LockTimeout: time.Minute,
	})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(s.Close)
	key := link.Key{Code: "k"}
	tx, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT FROM shard_head WHERE shard = $1 FOR UPDATE`, feed.Shard(key.Hash())); err != nil {
		t.Fatalf("lock: %v", err)
	}
	var wg sync.WaitGroup
	var pair []links.Mutation // of which each write takes a connection
	for _, k := range sameShard(key, 2) {
		pair = append(pair, create(k, content("https://a.example/")))
	}
	for range writers {
		wg.Go(func() {
			if _, err := s.Write(t.Context(), pair); err != nil {
				t.Errorf("Write: %v", err)
			}
		})
	}
	awaitLocks(t, url, conns)
	ctx := guard(t)
	for _, name := range []string{"Heads", "Entry", "Changes", "Codes", "Config", "Ping"} {
		if err := calls(s)[name](ctx); err != nil {
			t.Errorf("%s beside %d stuck writers: %v", name, writers, err)
		}
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Errorf("rollback: %v", err)
	}
	wg.Wait()
}

func TestAServerThatHangsIsUnavailableWithoutTheCallersDeadline(t *testing.T) {
	t.Parallel()
	pg := services.PrivatePostgres(t)
	openStore(t, pg.URL())
	open := func(statement time.Duration) *postgres.Store {
		s, err := postgres.Open(t.Context(), postgres.Config{URL: pg.URL(), StatementTimeout: statement})
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		t.Cleanup(s.Close)
		return s
	}
	quick, patient := open(100*time.Millisecond), open(time.Hour)
	all := calls(quick)
	all["Key, whatever a statement may take"] = calls(patient)["Key"]
	all["LeaseMachine"] = func(ctx context.Context) error {
		_, _, _, err := quick.LeaseMachine(ctx, "a", 1, time.Hour)
		return err
	}
	all["RenewMachine"] = func(ctx context.Context) error { _, err := quick.RenewMachine(ctx, 1, "a", time.Hour); return err }
	all["ReleaseMachine"] = func(ctx context.Context) error { return quick.ReleaseMachine(ctx, 1, "a", time.Now()) }
	all["Keys"] = func(ctx context.Context) error { _, err := quick.Keys(ctx, "", 1); return err }
	all["AnyKey"] = func(ctx context.Context) error { _, err := quick.AnyKey(ctx); return err }
	all["CreateKey"] = func(ctx context.Context) error { return quick.CreateKey(ctx, links.APIKey{ID: "id"}) }
	all["FirstKey"] = func(ctx context.Context) error { _, err := quick.FirstKey(ctx, links.APIKey{ID: "id"}); return err }
	all["RevokeKey"] = func(ctx context.Context) error { return quick.RevokeKey(ctx, "id") }
	// Sessions that are open: a new one would be given up by its own timeout.
	for _, s := range []*postgres.Store{quick, patient} {
		if _, err := s.Key(t.Context(), "none"); !errors.Is(err, link.ErrNotFound) {
			t.Fatalf("Key: %v", err)
		}
	}
	pg.Pause()
	defer pg.Resume()
	ctx := guard(t)
	var wg sync.WaitGroup
	for name, call := range all {
		wg.Go(func() {
			if err := call(ctx); !errors.Is(err, link.ErrUnavailable) {
				t.Errorf("%s of a hanging server: %v, want ErrUnavailable", name, err)
			}
			if ctx.Err() != nil {
				t.Errorf("%s of a hanging server went on until its caller gave up", name)
			}
		})
	}
	wg.Wait()
}

// TestAConnectionWhoseCheckHangsIsGivenUp uses a server that lets clients in and
// then says nothing more.
func TestAConnectionWhoseCheckHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer l.Close() //nolint:errcheck // ends Accept
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { welcome(conn) })
		}
	})
	ctx := guard(t)
	s, err := postgres.Open(ctx, postgres.Config{
		URL:            "postgres://u@" + l.Addr().String() + "/d?sslmode=disable",
		ConnectTimeout: 200 * time.Millisecond, StatementTimeout: time.Hour,
	})
	if !errors.Is(err, link.ErrUnavailable) {
		t.Errorf("Open = %v, %v, want ErrUnavailable", s, err)
	}
	if ctx.Err() != nil {
		t.Error("Open went on until its caller gave up")
	}
}

// welcome starts a session and reads what it is asked, until the client leaves.
func welcome(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // the client has left
	backend := pgproto3.NewBackend(conn, conn)
	m, err := backend.ReceiveStartupMessage()
	if _, starts := m.(*pgproto3.StartupMessage); err != nil || !starts {
		return // or else it asks to cancel what another session does, and waits to be hung up on
	}
	backend.Send(&pgproto3.AuthenticationOk{})
	backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if backend.Flush() != nil {
		return
	}
	for {
		m, err := backend.Receive()
		if _, ends := m.(*pgproto3.Terminate); err != nil || ends {
			return
		}
	}
}
