// Command followers runs many followers in one process, each a member with a table of its own: edges that hear,
// apply and acknowledge every change and answer no visitor. It is for measuring how changes spread to many.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/nats-io/nats.go" //nolint:depguard // connects each follower as the edge's main does
	"golang.org/x/sync/errgroup"

	"waypost/edge/internal/fill"
	"waypost/edge/internal/follow"
	"waypost/shared/feed"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "followers:", err)
		os.Exit(1)
	}
}

type config struct {
	n, slots                   int
	origin, nats, prefix, name string
	secret                     string
}

// run follows until ctx ends, then takes every member off.
func run(ctx context.Context, args []string, getenv func(string) string, stderr io.Writer) error {
	cfg := config{secret: getenv("WAYPOST_INTERNAL_SECRET")}
	flags := flag.NewFlagSet("followers", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&cfg.n, "n", 100, "`followers`")
	flags.IntVar(&cfg.slots, "slots", 256, "floors of each array, a power of two; an edge has "+strconv.Itoa(feed.Slots))
	flags.StringVar(&cfg.origin, "origin", "", "`URL` of an origin's internal listener")
	flags.StringVar(&cfg.nats, "nats", "", "`URL` of the NATS server")
	flags.StringVar(&cfg.prefix, "prefix", "waypost", "beginning of all NATS subjects")
	flags.StringVar(&cfg.name, "name", "follower", "beginning of all members' ids")
	if err := flags.Parse(args); err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	all, ctx := errgroup.WithContext(ctx)
	for i := range cfg.n {
		all.Go(func() error {
			if err := one(ctx, cfg, i, logger); err != nil {
				return fmt.Errorf("follower %d: %w", i, err)
			}
			return nil
		})
	}
	return all.Wait()
}

// one is a follower's life. Its connections are its own, as an edge's are.
func one(ctx context.Context, cfg config, i int, logger *slog.Logger) error {
	id := cfg.name + "-" + strconv.Itoa(i)
	nc, err := nats.Connect(cfg.nats, follow.Options(id, func(error) {})...)
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	defer nc.Close()
	const conns = 8 // for probes and acknowledgements where NATS does not answer, and for missing changes
	origins, err := fill.New(fill.Config{Origins: []string{cfg.origin}, Secret: cfg.secret, MaxConns: conns})
	if err != nil {
		return err
	}
	defer origins.Close()
	follower := follow.New(follow.Config{
		Table: feed.NewTable(cfg.slots, 1), Origin: origins, History: origins,
		NATS: nc, Prefix: cfg.prefix, ID: id, Logger: logger.With(slog.String("follower", id)),
	})
	lasting, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	ended := make(chan error, 1)
	go func() { ended <- follower.Run(lasting) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	left := follower.Leave(lasting)
	end()
	return errors.Join(left, <-ended)
}
