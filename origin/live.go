package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"waypost/origin/internal/api"
	"waypost/origin/internal/clicks"
	"waypost/origin/internal/codes"
	"waypost/origin/internal/edgeapi"
	"waypost/origin/internal/edges"
	"waypost/origin/internal/limit"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/origin/internal/stampede"
	"waypost/shared/link"
)

// apiVersion is that of the OpenAPI document.
const apiVersion = "1.0.0"

// live waits for PostgreSQL, prepares it, opens both gates and keeps what
// stands behind them until ctx ends, which is after the last request.
func (o *origin) live(ctx context.Context) error {
	var store *postgres.Store
	database := o.cfg.Database
	database.Logger = o.logger
	err := o.retry(ctx, func() (err error) {
		if store == nil {
			if store, err = postgres.Open(ctx, database); err != nil {
				return err
			}
		}
		return o.prepare(ctx, store)
	})
	if store != nil {
		defer store.Close()
	}
	if err != nil || ctx.Err() != nil {
		return err
	}
	loader := stampede.New(stampede.Config{
		Redis: o.redis, Prefix: o.cfg.RedisKeys, Wait: o.cfg.StampedeWait, OnRedis: report(o.redisPart),
	}, store.Entry)
	defer loader.Close()
	snowflake := codes.NewSnowflake(store, codes.SnowflakeConfig{
		Holder: holder(), Machine: o.cfg.MachineID, Now: time.Now, Logger: o.logger,
	})
	fleet := o.fleet(store)
	service, err := o.service(store, fleet, codes.New(snowflake, codes.NewCounter(store)))
	if err != nil {
		return err
	}
	limiter := limit.New(limit.Config{Redis: o.redis, Prefix: o.cfg.RedisKeys})
	admin, err := o.admin(store, service, limiter) //nolint:contextcheck // its handlers have their requests' contexts
	if err != nil {
		return err
	}
	o.register(store, loader)
	o.registerFleet(fleet)
	o.registerViews()
	o.registerLimits(limiter)
	o.internal.open(edgeapi.New(edgeapi.Config{
		Secret: o.cfg.Secret, AllowAnyone: loopback(o.cfg.InternalListen), Logger: o.logger, Metrics: o.registry,
		MaxPages:     postgres.EdgeConns / 2, // so that probes and fills find a connection beside them
		MaxStretches: postgres.MaxStretches, MaxUses: postgres.MaxUses,
	}, edgeapi.Rooms{
		Fills: loader, Probes: fleet.probes, Acks: fleet.tracker.Acks(edges.ByHTTP), Feeds: store, Config: store,
		Clicks: store, Applied: o.applied,
	}))

	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return snowflake.Run(ctx) })
	work.Go(func() error { return fleet.inbox.Run(ctx) })
	work.Go(func() error { return fleet.sharer.Run(ctx) })
	work.Go(func() error { return o.prune(ctx, store) })
	work.Go(func() error { return o.keepSalts(ctx, store) })
	work.Go(func() error { return watch(ctx, o.redisPart, loader.Ping) })
	work.Go(func() error {
		// Once edges can be heard, since a domain is told to them as a link is.
		if err := o.registerDomains(ctx, service); err != nil || ctx.Err() != nil {
			return err
		}
		if err := o.takeBlocks(ctx, service); err != nil || ctx.Err() != nil {
			return err
		}
		o.public.open(admin)
		work.Go(func() error { return o.keepBlocks(ctx, service) })
		return watch(ctx, o.postgres, store.Ping)
	})
	return work.Wait()
}

// prepare brings schema, bound and the first key in place. It may be repeated
// from any point, by several origins at once.
func (o *origin) prepare(ctx context.Context, store *postgres.Store) error {
	if err := store.Migrate(ctx); err != nil {
		return err
	}
	if err := store.Prune(ctx); err != nil { // which also makes room for changes to come
		return err
	}
	if err := store.KeepSalts(ctx); err != nil {
		return err
	}
	if err := store.SetBound(ctx, o.cfg.StaleBound); err != nil {
		return err
	}
	return firstKey(ctx, links.NewKeys(store, time.Now), o.cfg.AdminKeyFile, o.stderr)
}

// registerDomains makes the domains known that are to be there at start. One that
// there is no room for is told: links and edges do without it, and not without an
// origin.
func (o *origin) registerDomains(ctx context.Context, service *links.Service) error {
	for _, host := range o.cfg.Domains {
		err := o.retry(ctx, func() error {
			_, err := service.RegisterDomain(ctx, host, links.AckEdges)
			return err
		})
		switch {
		case errors.Is(err, links.ErrFull):
			o.logger.LogAttrs(ctx, slog.LevelError, "no room for a domain beside those that are registered and the blocks; it is not registered",
				slog.String("domain", host))
		case err != nil:
			return fmt.Errorf("domain %s: %w", host, err)
		}
	}
	return nil
}

// service builds the rules of links on the store.
func (o *origin) service(store *postgres.Store, fleet *fleet, generators *codes.Codes) (*links.Service, error) {
	public, err := o.cfg.public()
	if err != nil {
		return nil, err
	}
	return links.New(links.Deps{
		Store: store, Purges: store, Config: store, Known: store, Records: store, Codes: generators,
		Publisher: o.publisher, Barrier: fleet.barrier,
		PublicHost: publicHost(public), Schemes: o.cfg.Schemes,
	}), nil
}

// admin builds the admin API on them.
func (o *origin) admin(store *postgres.Store, service *links.Service, limiter *limit.Limiter) (*api.API, error) {
	public, err := o.cfg.public()
	if err != nil {
		return nil, err
	}
	return api.New(api.Config{
		Links: service, Clicks: clicks.New(store, service, time.Now), Views: o.views,
		Keys: links.NewKeys(store, time.Now), Logger: o.logger, Metrics: o.registry,
		Limiter: limiter, Creates: links.Allowance{Rate: o.cfg.CreateRate, Burst: o.cfg.CreateBurst}, Origins: o.cfg.CORSOrigins,
		Public: public, Proxies: o.cfg.TrustedProxies, Version: apiVersion, Now: time.Now,
	})
}

// retry repeats try while PostgreSQL is unavailable, until ctx ends. The state
// of the part tells what is going on, with one line in the log for a change.
func (o *origin) retry(ctx context.Context, try func() error) error {
	for wait := retryMin; ; wait = min(2*wait, retryMax) {
		err := try()
		if !errors.Is(err, link.ErrUnavailable) {
			return err
		}
		if ctx.Err() == nil {
			o.postgres.Down(err.Error())
		}
		if !pause(ctx, jittered(wait)) {
			return nil
		}
	}
}

// holder names this process and no other, nor its predecessor.
func holder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "origin"
	}
	return host + " " + rand.Text()
}
