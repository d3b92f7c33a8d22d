// Command waypost-edge answers short links in one region.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"waypost/edge/internal/audit"
	"waypost/edge/internal/fill"
	"waypost/edge/internal/follow"
	"waypost/edge/internal/httpd"
	"waypost/edge/internal/l1"
	"waypost/edge/internal/l2"
	"waypost/edge/internal/limit"
	"waypost/edge/internal/redirect"
	"waypost/edge/internal/visitor"
	"waypost/shared/bloom"
	"waypost/shared/dial"
	"waypost/shared/feed"
	"waypost/shared/link"
	"waypost/shared/ops"
	"waypost/shared/settings"
)

const program = "waypost-edge"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(exitCode(err, os.Stderr))
}

func exitCode(err error, stderr io.Writer) int {
	if err == nil || errors.Is(err, settings.ErrHelp) {
		return 0
	}
	_, _ = fmt.Fprintf(stderr, "%s: %v\n", program, err)
	if _, ok := errors.AsType[*settings.FaultsError](err); ok {
		return 2 // the user can put it right
	}
	return 1
}

// run is the edge's whole life: it returns when everything it started has
// ended.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	var cfg config
	rest, err := settings.Load(&cfg, args, getenv)
	if errors.Is(err, settings.ErrHelp) {
		return errors.Join(err, settings.Usage(stdout, program+" [serve|healthcheck]", &config{}))
	}
	if err != nil {
		return err
	}
	switch command := strings.Join(rest, " "); command {
	case "", "serve":
		return serve(ctx, &cfg, stderr)
	case "healthcheck":
		return ops.Healthcheck(ctx, cfg.OpsListen)
	default:
		return &settings.FaultsError{Faults: []settings.Fault{{Name: command, Problem: "is not a command: serve or healthcheck"}}}
	}
}

func serve(ctx context.Context, cfg *config, stderr io.Writer) error {
	logger := ops.NewLogger(stderr, program, cfg.LogLevel).With(slog.String("edge", cfg.name()))
	health := ops.NewHealth(logger, time.Now)
	var (
		configPart = health.Part("config", true)
		leasesPart = health.Part("leases", true)
		originPart = health.Part("origin", false)
		redisPart  = health.Part("redis", false)
		natsPart   = health.Part("nats", false)
	)
	reg := ops.NewRegistry(health)

	rdb, err := newRedis(cfg.RedisURL)
	if err != nil {
		return err
	}
	defer rdb.Close() //nolint:errcheck // nothing is left to be written
	nc, err := nats.Connect(strings.Join(cfg.NATSURL, ","), follow.Options(cfg.name(), report(natsPart))...)
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	defer nc.Close()
	origins, err := fill.New(fill.Config{Origins: cfg.OriginURLs, Secret: cfg.Secret, MaxConns: cfg.MaxFills + 32})
	if err != nil {
		return err
	}
	defer origins.Close()

	state, saved, err := takeUp(cfg.StateDir, logger)
	if err != nil {
		return err
	}
	if state != nil {
		defer state.Close() //nolint:errcheck // releases the folder, after the last save
	}
	table := feed.NewTable(feed.Slots, rand.Uint64()) //nolint:gosec // seeded by the system; the worst that a guess buys is a miss
	var settings *feed.Config
	if saved != nil {
		table, settings = saved.Restore(), saved.Config
	}
	first, err := l1.New(int64(cfg.L1Bytes))
	if err != nil {
		return err
	}
	defer first.Close()
	second := l2.New(l2.Config{
		Redis: rdb, Prefix: cfg.RedisKeys, TTL: cfg.StaleCap, Table: table, Source: origins,
		Shape:   bloom.ShapeOf(cfg.FilterKeys, cfg.FilterRate, feed.Shards),
		OnRedis: report(redisPart), Logger: logger,
	})
	limiter, err := limit.New(limit.Config{
		Mode: limit.Mode(cfg.LimitMode), Rate: cfg.LimitRate, Burst: cfg.LimitBurst,
		Redis: rdb, Prefix: cfg.RedisKeys,
	})
	if err != nil {
		return err
	}

	proxies := limit.NewProxies(cfg.TrustedProxies)
	facts, err := visitor.New(ctx, visitor.Config{CountryFile: cfg.GeoIPFile, Trusted: proxies.Trusted, Logger: logger})
	if err != nil {
		return err
	}

	var (
		follower *follow.Follower
		resolver *redirect.Resolver
		auditor  *audit.Auditor
		lag      = newLag(reg)
	)
	follower = follow.New(follow.Config{
		Table: table, Settings: settings, Origin: origins, History: origins,
		NATS: nc, Prefix: cfg.Subjects, ID: cfg.name(), State: state, Logger: logger,
		Applied: func(c *feed.Change) {
			if e, ok, err := c.Entry(); err == nil && ok {
				resolver.Applied(e)
			}
			second.Applied(c)
		},
		Lag:    lag,
		Probed: probed(configPart, originPart, func() bool { return follower.Settings() != nil }),
		Held:   held(leasesPart),
		Heads: func(received feed.Instant, h *feed.Heads) {
			auditor.Probed(received, h)
			facts.Learn(h.Salts)
		},
		Fault: func(err error) {
			logger.Error("a feed message cannot be read; the change will be fetched", slog.Any("error", err))
		},
	})
	auditor = audit.New(audit.Config{Every: cfg.AuditEvery, Outbox: origins, Bound: follower.Bound, Logger: logger})
	resolver = redirect.New(redirect.Config{
		Table: table, L1: first, L2: tier{second}, Load: origins.Load, Use: origins.Use,
		Timeout: 5 * time.Second, MaxFills: cfg.MaxFills,
		Clock: follower.Instant, Bound: follower.Bound, Cap: cfg.StaleCap, Since: follower.Since,
		NewerEpoch: follower.Probe, Adopt: follower.Adopt,
	})
	defer resolver.Wait()
	register(reg, table, follower, limiter, second, auditor)
	clicks, err := openCounting(cfg, origins, func() int64 {
		_, now := follower.Clock()
		return now
	}, logger)
	if err != nil {
		return err
	}
	defer clicks.close()
	registerClicks(reg, clicks, facts)

	public := httpd.Config{
		Region: cfg.Region, HomeURL: cfg.HomeURL,
		Resolve: resolver.Resolve, Held: resolver.Held, Use: resolver.Use, Mark: resolver.Mark, Served: auditor.Served,
		ConfigLease: func() feed.Instant { return table.Lease(feed.ConfigShard) },
		Settings:    follower.Settings, Clock: follower.Clock, Told: follower.Told,
		Client: proxies.Client,
		Admit: func(ctx context.Context, client netip.Addr) (int, bool) {
			d := limiter.Allow(ctx, limit.ClientOf(client))
			return d.RetryAfter, d.OK
		},
		Describe: facts.Describe, CountryHeader: cfg.CountryHeader,
		LimitPolicy: limiter.Policy(), MaxConns: cfg.MaxConns,
		Metrics: httpd.NewMetrics(reg), Logger: logger,
	}
	if clicks != nil {
		public.Clicks = clicks
	}
	server := httpd.New(ctx, public, cfg.Drain)

	// Everything but the public listener outlives it: a request in hand still
	// needs its tiers, and /readyz has to say that this edge is leaving.
	lasting, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var cert *httpd.Certificate
	if cfg.TLSCert != "" {
		if cert, err = httpd.NewCertificate(cfg.TLSCert, cfg.TLSKey, logger); err != nil {
			return err
		}
	}
	if err := server.Listen(ctx, cfg.Listen, cert); err != nil {
		return err
	}
	defer server.Close()
	side := ops.New(cfg.OpsListen, health, reg, logger)
	if err := side.Listen(ctx); err != nil {
		return err
	}
	work, lasting := errgroup.WithContext(lasting)
	if cert != nil {
		work.Go(func() error { return cert.Run(lasting) })
	}
	work.Go(func() error { return side.Run(lasting) })
	work.Go(func() error { return follower.Run(lasting) })
	work.Go(func() error { return limiter.Run(lasting) })
	work.Go(func() error { return second.Run(lasting) })
	work.Go(func() error { return auditor.Run(lasting) })
	work.Go(func() error { return facts.Run(lasting) })
	// Clicks are counted until the last answer is out, whatever else has failed.
	var counted errgroup.Group
	counting, flush := context.WithCancel(context.WithoutCancel(ctx))
	defer flush()
	if clicks != nil {
		counted.Go(func() error { return clicks.Run(counting) })
	}
	logger.Info("edge is up", slog.String("region", cfg.Region),
		slog.String("listen", server.Addr()), slog.String("ops", side.Addr()))

	// A part that fails takes the public listener down with it.
	serving, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(lasting, stop)()
	defer context.AfterFunc(ctx, health.Drain)()
	err = server.Run(serving)
	// The last answer is out: no write has to wait for this edge any more.
	if left := follower.Leave(context.WithoutCancel(ctx)); left != nil {
		logger.Warn("leaving without the origins knowing; writes wait for this edge once", slog.Any("error", left))
	}
	flush()
	err = errors.Join(err, counted.Wait())
	end()
	return errors.Join(err, work.Wait())
}

// takeUp opens the state folder and reads what an earlier run saved there; both
// nil where none is set. A file that cannot be used is as none.
func takeUp(dir string, logger *slog.Logger) (*follow.State, *feed.Saved, error) {
	if dir == "" {
		return nil, nil, nil
	}
	state, err := follow.OpenState(dir)
	if err != nil {
		return nil, nil, err
	}
	saved, err := state.Load(feed.Slots)
	if err != nil {
		logger.Warn("saved positions cannot be used; starting without", slog.Any("error", err))
	}
	return state, saved, nil
}

// tier is L2 as the rule wants it: what cannot be asked has no answer.
type tier struct{ *l2.Cache }

// Lookup implements redirect's second tier.
func (t tier) Lookup(ctx context.Context, key link.Key, hash uint64) (value, absent *feed.Entry) {
	found, err := t.Cache.Lookup(ctx, key, hash)
	if err != nil {
		return nil, nil // Redis' state is reported by the cache itself
	}
	return found.Entry, found.Absent
}

// report tells a part of /readyz what its client last saw.
func report(part *ops.Part) func(error) {
	return func(err error) {
		if err != nil {
			part.Down(err.Error())
			return
		}
		part.OK()
	}
}

// probed tells /readyz what a probe saw. An edge that was started while no
// origin answers says "degraded" after the first probe failed: 503 would take
// every edge out of the load balancer at once.
func probed(config, origin *ops.Part, configured func() bool) func(error) {
	return func(err error) {
		report(origin)(err)
		switch {
		case configured():
			config.OK()
		case err != nil:
			config.Degraded("no origin has answered yet")
		}
	}
}

// held tells /readyz whether an answer can go out unmarked, whatever its key. An
// edge without a lease still does its work, if at a loss.
func held(leases *ops.Part) func(bool) {
	return func(all bool) {
		if all {
			leases.OK()
			return
		}
		leases.Degraded("a lease is older than the stale bound, or not there yet: answers go out marked as stale")
	}
}

// plainProtocol is Redis' own without what a server may say unasked: nothing here
// wants that, and go-redis looks for it before every answer.
const plainProtocol = 2

// newRedis makes the region's client: of one server, or of a cluster if the URL
// names further nodes. No retries: a tier that fails is skipped.
func newRedis(url string) (redis.UniversalClient, error) {
	redis.SetLogger(silent{}) // its state stands in /readyz; go-redis would log every failed dial
	if strings.Contains(url, "addr=") {
		opts, err := redis.ParseClusterURL(url)
		if err != nil {
			return nil, errors.New("WAYPOST_REDIS_URL: not a Redis cluster URL")
		}
		opts.ContextTimeoutEnabled, opts.MaxRetries, opts.Protocol = true, -1, plainProtocol
		opts.DialTimeout, opts.DialerRetries = time.Second, 1
		opts.Dialer = dial.Sparing(redis.NewDialer(&redis.Options{DialTimeout: opts.DialTimeout, TLSConfig: opts.TLSConfig}))
		return redis.NewClusterClient(opts), nil
	}
	opts, err := redis.ParseURL(url)
	if err != nil {
		return nil, errors.New("WAYPOST_REDIS_URL: not a Redis URL")
	}
	opts.ContextTimeoutEnabled, opts.MaxRetries, opts.Protocol = true, -1, plainProtocol
	opts.DialTimeout, opts.DialerRetries = time.Second, 1
	opts.Dialer = dial.Sparing(redis.NewDialer(opts))
	return redis.NewClient(opts), nil
}

type silent struct{}

// Printf implements go-redis' logger.
func (silent) Printf(context.Context, string, ...any) {}
