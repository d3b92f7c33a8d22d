// Command waypost-origin keeps the links and answers the admin API and the
// edges.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"golang.org/x/sync/errgroup"

	"waypost/origin/internal/clicks"
	"waypost/origin/internal/publish"
	"waypost/origin/internal/stampede"
	"waypost/shared/ops"
	"waypost/shared/settings"
)

const program = "waypost-origin"

// heapPercent is how much of what is live the heap may grow by before it is
// collected. What is live are some megabytes: with Go's own 100 % the collector would
// run every few hundred fills, beside the PostgreSQL that they wait for.
const heapPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(exitCode(err, os.Stderr))
}

// exitCode reports the error and says how the process ends: 2 is for what the
// user can put right in the command line or environment.
func exitCode(err error, stderr io.Writer) int {
	if err == nil || errors.Is(err, settings.ErrHelp) {
		return 0
	}
	_, _ = fmt.Fprintf(stderr, "%s: %v\n", program, err)
	if _, ok := errors.AsType[*settings.FaultsError](err); ok {
		return 2
	}
	return 1
}

// origin is what the parts of a serving origin share.
type origin struct {
	cfg       *config
	logger    *slog.Logger
	stderr    io.Writer
	postgres  *ops.Part
	redisPart *ops.Part
	registry  *prometheus.Registry
	redis     redis.UniversalClient
	nats      *nats.Conn
	name      string // of this process among origins, drawn at its start
	publisher *publish.Publisher
	views     *clicks.Views
	viewers   *publish.Live // the views of other origins
	blocks    *blockFile
	public    gate
	internal  gate
}

// serve listens at once and answers as soon as PostgreSQL does. Without Redis
// and NATS it serves, degraded.
func serve(ctx context.Context, cfg *config, stderr io.Writer) error {
	logger := ops.NewLogger(stderr, program, cfg.LogLevel)
	health := ops.NewHealth(logger, time.Now)
	o := &origin{
		cfg: cfg, logger: logger, stderr: stderr,
		postgres: health.Part("postgres", true), redisPart: health.Part("redis", false),
		registry: ops.NewRegistry(health),
	}
	natsPart := health.Part("nats", false)

	var err error
	if o.blocks, err = openBlockFile(cfg.BlockFile); err != nil {
		return err
	}
	// Its state stands in /readyz; the client itself would log every failed dial.
	redis.SetLogger(&logging.VoidLogger{})
	if o.redis, err = stampede.Connect(cfg.RedisURL); err != nil {
		return err
	}
	defer o.redis.Close() //nolint:errcheck // only read and locked
	nc, err := nats.Connect(strings.Join(cfg.NATSURL, ","), publish.Options(program, report(natsPart))...)
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	defer nc.Close()
	o.nats, o.name = nc, rand.Text()
	o.publisher = publish.New(nc, cfg.Subjects, o.name)
	o.views = clicks.NewViews(clicks.MaxViews)
	o.viewers = publish.NewLive(nc, cfg.Subjects, o.name, o.views)

	side := ops.New(cfg.OpsListen, health, o.registry, logger)
	if err := side.Listen(ctx); err != nil {
		return err
	}
	public, err := listen(ctx, "public", cfg.Listen, &o.public, cfg.Drain, logger)
	if err != nil {
		return err
	}
	defer public.net.Close() //nolint:errcheck // closed before, unless the start failed
	internal, err := listen(ctx, "internal", cfg.InternalListen, &o.internal, cfg.Drain, logger)
	if err != nil {
		return err
	}
	logger.LogAttrs(ctx, slog.LevelInfo, "origin is up", slog.String("listen", public.address()),
		slog.String("internal", internal.address()), slog.String("ops", side.Addr()))

	// What answers requests outlives the listeners, and /readyz outlives all.
	lasting, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	work, lasting := errgroup.WithContext(lasting)
	work.Go(func() error { return side.Run(lasting) })
	work.Go(func() error { return o.publisher.Run(lasting) })
	work.Go(func() error { return o.viewers.Run(lasting) })
	work.Go(func() error { return o.live(lasting) })

	// A part that fails takes the listeners down with it.
	serving, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(lasting, stop)()
	defer context.AfterFunc(serving, health.Drain)()
	front, serving := errgroup.WithContext(serving)
	front.Go(func() error { return public.run(serving) })
	front.Go(func() error { return internal.run(serving) })
	front.Go(func() error { return o.views.Run(serving) })
	err = front.Wait()
	end()
	return errors.Join(err, work.Wait())
}

// report tells a part's state by an error or its absence.
func report(p *ops.Part) func(error) {
	return func(err error) {
		if err != nil {
			p.Down(err.Error())
			return
		}
		p.OK()
	}
}
