package services

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5"

	"waypost/deploy/process"
)

// pgUser owns the cluster and is its superuser; pgDatabase is made at first start.
const (
	pgUser     = "waypost"
	pgDatabase = "waypost"
)

// PostgresConfig says where a PostgreSQL lives. Dir is required.
type PostgresConfig struct {
	// Dir holds the cluster; an empty or missing one is initialised. It must be reachable by the user that
	// PostgreSQL runs as (see Reaches). As root it is given to that user.
	Dir      string
	Port     int       // 0: a free one
	Password string    // of role waypost; empty: random. A cluster that exists keeps the one it was made with.
	Output   io.Writer // nil: server.log in Dir's parent folder, beside the cluster
	Unsafe   bool      // fsync off: a power cut may destroy the cluster. For tests. Commits stay synchronous.
	Buffers  int       // MiB of shared buffers; 0: 128, as PostgreSQL has it, and 32 of an unsafe one
}

// PostgresServer is a private PostgreSQL on 127.0.0.1, reached by TCP and password only. Safe for concurrent use.
type PostgresServer struct {
	server
	cfg PostgresConfig
	acc account
	bin string
}

// StartPostgres initialises the cluster if there is none and returns once it answers queries. ctx bounds the start
// only. A missing PostgreSQL is a *MissingError.
func StartPostgres(ctx context.Context, cfg PostgresConfig) (*PostgresServer, error) {
	bin, err := findFor(cfg.Dir)
	if err != nil {
		return nil, err
	}
	acc, err := postgresAccount()
	if err != nil {
		return nil, err
	}
	if cfg.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return nil, err
	}
	if ok, err := acc.reaches(cfg.Dir); err != nil {
		return nil, err
	} else if !ok {
		return nil, fmt.Errorf("postgres: user %s, whom PostgreSQL runs as, cannot reach %s", acc.name, cfg.Dir)
	}
	if cfg.Password == "" {
		cfg.Password = rand.Text()
	}
	s := &PostgresServer{cfg: cfg, acc: acc, bin: bin}
	s.name, s.start = "postgres", s.run
	if err := s.initCluster(ctx); err != nil {
		return nil, err
	}
	if err := s.launch(ctx, cfg.Port); err != nil {
		return nil, err
	}
	if err := s.createDatabase(ctx, pgDatabase); err != nil {
		s.Kill()
		return nil, err
	}
	return s, nil
}

// URL returns the connection string of the database waypost, as a superuser.
func (s *PostgresServer) URL() string { return s.DatabaseURL(pgDatabase) }

// DatabaseURL returns the connection string of a database of this cluster, as a superuser.
func (s *PostgresServer) DatabaseURL(name string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(pgUser, s.cfg.Password),
		Host: s.Addr(), Path: "/" + name, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// initCluster makes the cluster unless Dir holds a complete one. A cluster is made under another name and moved, so
// that an initdb that was cut short is never taken for one.
func (s *PostgresServer) initCluster(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(s.cfg.Dir, clusterVersion)); err == nil {
		return nil
	}
	fresh := s.cfg.Dir + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := s.acc.own(fresh); err != nil {
		return fmt.Errorf("postgres: cluster folder: %w", err)
	}
	// The password goes by a file: arguments can be read by every user of the machine.
	secret := filepath.Join(fresh, "initial.password")
	if err := os.WriteFile(secret, []byte(s.cfg.Password+"\n"), 0o600); err != nil {
		return err
	}
	if s.acc.credential != nil {
		if err := os.Chown(secret, s.acc.uid, s.acc.gid); err != nil {
			return err
		}
	}
	cluster := filepath.Join(fresh, "cluster")
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "initdb"), //nolint:gosec // the program found above
		"--pgdata="+cluster, "--username="+pgUser, "--pwfile="+secret, "--auth=scram-sha-256",
		"--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions")
	cmd.Dir = fresh // initdb wants to know where it stands, and may not be allowed to look at our own folder
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.acc.credential}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w:\n%s", err, out)
	}
	// Only an empty folder can be replaced, so nobody's files are lost if Dir was a wrong one.
	if err := os.Remove(s.cfg.Dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("postgres: %s is neither a cluster nor empty: %w", s.cfg.Dir, err)
	}
	if err := os.Rename(cluster, s.cfg.Dir); err != nil {
		return err
	}
	return os.RemoveAll(fresh)
}

// run starts the server process on the cluster.
func (s *PostgresServer) run(ctx context.Context) (*process.Process, error) {
	logDir := filepath.Dir(s.cfg.Dir)
	out, closeOut, err := output(s.cfg.Output, logDir)
	if err != nil {
		return nil, err
	}
	defer closeOut()
	settings := []string{
		"listen_addresses=" + host,
		"port=" + strconv.Itoa(s.port),
		"unix_socket_directories=", // none: TCP with a password is the only way in
		"timezone=UTC", "log_timezone=UTC",
		"max_connections=200",
		"synchronous_commit=on",
		"log_min_messages=warning",
	}
	buffers := 128
	if s.cfg.Unsafe {
		settings = append(settings, "fsync=off", "full_page_writes=off", "max_wal_size=128MB")
		buffers = 32
	}
	if s.cfg.Buffers > 0 {
		buffers = s.cfg.Buffers
	}
	settings = append(settings, "shared_buffers="+strconv.Itoa(buffers)+"MB")
	args := []string{"-D", s.cfg.Dir}
	for _, kv := range settings {
		args = append(args, "-c", kv)
	}
	p, err := process.Start(ctx, process.Spec{
		Name: s.name, Path: filepath.Join(s.bin, "postgres"), Args: args,
		Dir: s.cfg.Dir, Output: out, Credential: s.acc.credential,
		StopSignal: syscall.SIGINT, // fast: open transactions are rolled back, sessions closed
		// Immediate: also ends every backend and frees the shared memory segment, which SIGKILL would leave behind.
		DeathSignal: syscall.SIGQUIT,
		Ready:       func(ctx context.Context, _ int) error { return s.answers(ctx) },
	})
	return p, withLog(err, logDir)
}

// answers opens a session with the cluster's own password, which no other PostgreSQL on this port would accept.
func (s *PostgresServer) answers(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.DatabaseURL("postgres"))
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// createDatabase makes a database unless there is one of this name. name must be a plain identifier.
func (s *PostgresServer) createDatabase(ctx context.Context, name string) error {
	return s.admin(ctx, func(conn *pgx.Conn) error {
		var exists bool
		err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&exists)
		if err != nil || exists {
			return err
		}
		_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
		return err
	})
}

// dropDatabase removes a database and ends the sessions it still has.
func (s *PostgresServer) dropDatabase(ctx context.Context, name string) error {
	return s.admin(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
		return err
	})
}

// admin runs do in a session of its own on the database postgres, which is never used for anything else.
func (s *PostgresServer) admin(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, s.DatabaseURL("postgres"))
	if err != nil {
		return fmt.Errorf("postgres admin session: %w", err)
	}
	return errors.Join(do(conn), conn.Close(ctx))
}
