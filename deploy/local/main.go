// Command waypost-local runs the whole of Waypost on one machine, each part as a process of its own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage: waypost-local [command]

  run    start the local stack and stay in front until Ctrl-C (default)
  nats   run a NATS server alone: waypost-local nats --port N

environment:
  WAYPOST_DATA=dir         keep everything in dir (default .waypost)
  WAYPOST_PORT_SHIFT=n     add n to every port (default 0); the shifts of two stacks must be %s apart
  other WAYPOST_ names     handed on to the services; they win over what the launcher would set, except for
                           names that several processes cannot share, such as WAYPOST_LISTEN
`

// usageError is a command line that cannot be understood: exit status 2.
type usageError struct{ error }

func main() {
	ends := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	err := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	var wrong usageError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.As(err, &wrong):
		fmt.Fprintf(os.Stderr, "waypost-local: %v\n", err)
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "waypost: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) error {
	command := "run"
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	switch command {
	case "run":
		if len(args) > 0 {
			return usageError{fmt.Errorf("run takes no arguments, got %q", args)}
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		c, err := loadConfig(environ, self)
		if err != nil {
			return usageError{err}
		}
		return runStack(ctx, c, &printer{out: stdout, err: stderr})
	case "nats":
		return runNATS(ctx, args, environ, stderr)
	case "help", "-h", "-help", "--help":
		_, err := fmt.Fprintf(stdout, usage, shiftsApart())
		return err
	default:
		_, _ = fmt.Fprintf(stderr, usage, shiftsApart())
		return usageError{fmt.Errorf("unknown command %q", command)}
	}
}
