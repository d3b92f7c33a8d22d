package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"waypost/origin/internal/postgres"
	"waypost/shared/ops"
	"waypost/shared/settings"
)

// run is one command's whole life: it returns when everything it started has
// ended. The command comes first, its flags follow; without one it serves.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	command := "serve"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		command, args = args[0], args[1:]
	}
	in := invocation{args: args, getenv: getenv, stdout: stdout, stderr: stderr}
	switch command {
	case "serve":
		return in.serve(ctx)
	case "migrate":
		return in.migrate(ctx)
	case "key":
		return in.key(ctx)
	case "epoch":
		return in.epoch(ctx)
	case "healthcheck":
		return in.healthcheck(ctx)
	}
	return faultOf(command, "is not a command: serve, migrate, key create, key list, key revoke, epoch bump or healthcheck")
}

// invocation is what a command gets from outside.
type invocation struct {
	args           []string
	getenv         func(string) string
	stdout, stderr io.Writer
}

// load reads a command's settings, of which most arguments may be no flags;
// asked for help, it shows them.
func (in invocation) load(command string, cfg any, most int) (rest []string, err error) {
	rest, err = settings.Load(cfg, in.args, in.getenv)
	if errors.Is(err, settings.ErrHelp) {
		return nil, errors.Join(err, settings.Usage(in.stdout, program+" "+command, cfg))
	}
	if err == nil && len(rest) > most {
		return nil, faultOf(rest[most], "is one argument too many")
	}
	return rest, err
}

func faultOf(name, problem string) error {
	return &settings.FaultsError{Faults: []settings.Fault{{Name: name, Problem: problem}}}
}

func (in invocation) serve(ctx context.Context) error {
	var cfg config
	if _, err := in.load("[serve|migrate|key create|key list|key revoke|epoch bump|healthcheck]", &cfg, 0); err != nil {
		return err
	}
	return serve(ctx, &cfg, in.stderr)
}

// migrate brings the database up to date and ends, for those who want that
// apart from serving. Unlike serve it does not wait for PostgreSQL.
func (in invocation) migrate(ctx context.Context) error {
	var cfg struct{ Database postgres.Config }
	if _, err := in.load("migrate", &cfg, 0); err != nil {
		return err
	}
	store, err := postgres.Open(ctx, cfg.Database)
	if err != nil {
		return err
	}
	defer store.Close()
	return store.Migrate(ctx)
}

func (in invocation) healthcheck(ctx context.Context) error {
	var cfg struct {
		OpsListen string `env:"WAYPOST_OPS_LISTEN" default:"127.0.0.1:9100" format:"address" help:"listener that is asked for /healthz"`
	}
	if _, err := in.load("healthcheck", &cfg, 0); err != nil {
		return err
	}
	return ops.Healthcheck(ctx, cfg.OpsListen)
}
