package peers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"waypost/bench/fleet"
	"waypost/deploy/services"
)

// startExpress installs what the Express design needs, as its lock file has it, unless that is there, and starts it.
// Its Redis and its PostgreSQL belong to it.
func startExpress(tb testing.TB, s *site) *Peer {
	tb.Helper()
	module := command(tb, "", "go", "list", "-m", "-f", "{{.Dir}}", "waypost/bench")
	dir := filepath.Join(module, "peers", "express")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", ".package-lock.json")); errors.Is(err, os.ErrNotExist) {
		command(tb, dir, find(tb, "npm", "npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	}
	store, database := startRedis(tb, s), services.PrivatePostgres(tb)
	s.pin(tb, database.PID())
	if err := seed(tb.Context(), database.URL(), s.links); err != nil {
		tb.Fatalf("%s: %v", s.name, err)
	}
	pid := s.run(tb,
		[]string{"NODE_ENV=production", "PORT=" + s.port(), "REDIS_URL=" + store.URL(), "DATABASE_URL=" + database.URL()},
		find(tb, "node", "nodejs"), filepath.Join(dir, "server.js"))
	return &Peer{Name: s.name, Addr: s.addr, PIDs: []int{pid, store.PID(), database.PID()}, Store: store.URL()}
}

// seed makes the table of links.
func seed(ctx context.Context, url string, links []fleet.Link) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE TABLE links (code text PRIMARY KEY, target text NOT NULL)")
	if err == nil {
		_, err = conn.CopyFrom(ctx, pgx.Identifier{"links"}, []string{"code", "target"}, pgx.CopyFromSlice(len(links), func(i int) ([]any, error) {
			return []any{links[i].Code, links[i].Target}, nil
		}))
	}
	if err == nil {
		_, err = conn.Exec(ctx, "VACUUM ANALYZE links")
	}
	return errors.Join(err, conn.Close(ctx))
}
