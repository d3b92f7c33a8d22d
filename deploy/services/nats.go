package services

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/nats-io/nats.go"

	"waypost/deploy/process"
)

// The server's credentials go to its process in these variables: arguments can be read by every user of the machine.
const (
	NATSUserEnv     = "WAYPOST_LOCAL_NATS_USER"
	NATSPasswordEnv = "WAYPOST_LOCAL_NATS_PASSWORD" //nolint:gosec // a name, not a password
)

// natsUser is the one user of a server with credentials.
const natsUser = "waypost"

// NATSConfig says where a NATS server lives. Dir and Binary are required.
type NATSConfig struct {
	Dir      string    // working folder, made if missing; nothing is kept in it but the log
	Binary   string    // waypost-local, whose subcommand `nats` is the server; see BuildLocal
	Port     int       // 0: a free one
	Password string    // of user waypost; empty: no credentials, which is fine on 127.0.0.1 only
	Output   io.Writer // nil: server.log in Dir
}

// NATSServer is a private NATS server on 127.0.0.1, core NATS only. Safe for concurrent use.
type NATSServer struct {
	server
	cfg NATSConfig
}

// StartNATS returns once the new process itself answers. ctx bounds the start only.
func StartNATS(ctx context.Context, cfg NATSConfig) (*NATSServer, error) {
	var err error
	if cfg.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return nil, err
	}
	if cfg.Binary, err = filepath.Abs(cfg.Binary); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("nats: folder: %w", err)
	}
	s := &NATSServer{cfg: cfg}
	s.name, s.start = "nats", s.run
	if err := s.launch(ctx, cfg.Port); err != nil {
		return nil, err
	}
	return s, nil
}

// URL returns "nats://[user:password@]127.0.0.1:port".
func (s *NATSServer) URL() string {
	if s.cfg.Password == "" {
		return "nats://" + s.Addr()
	}
	return "nats://" + natsUser + ":" + s.cfg.Password + "@" + s.Addr()
}

func (s *NATSServer) run(ctx context.Context) (*process.Process, error) {
	out, closeOut, err := output(s.cfg.Output, s.cfg.Dir)
	if err != nil {
		return nil, err
	}
	defer closeOut()
	name := "waypost-" + rand.Text() // by it the new process is told from any other server on this port
	p, err := process.Start(ctx, process.Spec{
		Name: s.name, Path: s.cfg.Binary, Dir: s.cfg.Dir, Output: out,
		Args:  []string{"nats", "--port", strconv.Itoa(s.port), "--name", name},
		Add:   s.credentials(),
		Ready: func(context.Context, int) error { return s.answers(name) },
	})
	return p, withLog(err, s.cfg.Dir)
}

// credentials returns what the server's process finds in its environment.
func (s *NATSServer) credentials() []string {
	if s.cfg.Password == "" {
		return nil
	}
	return []string{NATSUserEnv + "=" + natsUser, NATSPasswordEnv + "=" + s.cfg.Password}
}

func (s *NATSServer) answers(name string) error {
	conn, err := nats.Connect(s.URL(), nats.NoReconnect())
	if err != nil {
		return err
	}
	defer conn.Close()
	if got := conn.ConnectedServerName(); got != name {
		return fmt.Errorf("nats: server %q answers on port %d, not the one that was started", got, s.port)
	}
	return nil
}
