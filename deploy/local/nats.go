package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"golang.org/x/crypto/bcrypt"

	"waypost/deploy/services"
)

// natsStart bounds the wait for the server to listen.
const natsStart = 10 * time.Second

// runNATS is the subcommand nats: the nats-server library as a process of its own, core NATS on 127.0.0.1, without
// monitoring and JetStream. It returns nil once ctx has ended and the server has stopped.
func runNATS(ctx context.Context, args []string, environ []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("waypost-local nats", flag.ContinueOnError)
	flags.SetOutput(stderr)
	port := flags.Int("port", 4222, "TCP `port` on 127.0.0.1")
	name := flags.String("name", "waypost", "the server's `name`, told to clients")
	if err := flags.Parse(args); err != nil {
		return usageError{err}
	}
	opts := &server.Options{
		ServerName: *name,
		Host:       "127.0.0.1",
		Port:       *port,
		NoSigs:     true, // main listens for signals
		MaxPayload: 1 << 20,
	}
	if password := lookup(environ, services.NATSPasswordEnv); password != "" {
		// The cheapest hash will do for 130 random bits, and the server warns of plain ones.
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		if err != nil {
			return fmt.Errorf("nats: password: %w", err)
		}
		opts.Username, opts.Password = lookup(environ, services.NATSUserEnv), string(hash)
	}
	s, err := server.NewServer(opts)
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	s.SetLoggerV2(natsLog{stderr}, false, false, false)
	go s.Start() // returns at once without a cluster; Shutdown below ends what it started
	if !s.ReadyForConnections(natsStart) {
		s.Shutdown()
		return errors.New("nats: not listening in time")
	}
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// natsLog writes what needs attention: warnings, errors and what is fatal.
type natsLog struct{ w io.Writer }

func (l natsLog) line(level, format string, v []any) {
	_, _ = fmt.Fprintf(l.w, "%s %s %s\n", time.Now().UTC().Format(time.RFC3339), level, fmt.Sprintf(format, v...))
}

// Noticef drops what is only of interest.
func (natsLog) Noticef(string, ...any) {}

// Warnf writes one line.
func (l natsLog) Warnf(format string, v ...any) { l.line("WARN", format, v) }

// Fatalf writes one line; the server stops by itself.
func (l natsLog) Fatalf(format string, v ...any) { l.line("FATAL", format, v) }

// Errorf writes one line.
func (l natsLog) Errorf(format string, v ...any) { l.line("ERROR", format, v) }

// Debugf drops what is only of interest.
func (natsLog) Debugf(string, ...any) {}

// Tracef drops what is only of interest.
func (natsLog) Tracef(string, ...any) {}
