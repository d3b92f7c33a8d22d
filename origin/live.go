package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"waypost/origin/internal/api"
	"waypost/origin/internal/codes"
	"waypost/origin/internal/edgeapi"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/origin/internal/stampede"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// apiVersion is that of the OpenAPI document.
const apiVersion = "1.0.0"

// live waits for PostgreSQL, prepares it, opens both gates and keeps what
// stands behind them until ctx ends, which is after the last request.
func (o *origin) live(ctx context.Context) error {
	var store *postgres.Store
	err := o.retry(ctx, func() (err error) {
		if store == nil {
			if store, err = postgres.Open(ctx, o.cfg.Database); err != nil {
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
	admin, err := o.admin(store, codes.New(snowflake, codes.NewCounter(store))) //nolint:contextcheck // its handlers have their requests' contexts
	if err != nil {
		return err
	}
	o.register(store, loader)
	o.public.open(admin)
	o.internal.open(edgeapi.New(edgeapi.Config{
		Secret: o.cfg.Secret, AllowAnyone: loopback(o.cfg.InternalListen), Logger: o.logger, Metrics: o.registry,
		MaxPages: postgres.EdgeConns / 2, // so that probes and fills find a connection beside them
	}, loader, store, store))

	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return snowflake.Run(ctx) })
	work.Go(func() error { return watch(ctx, o.postgres, store.Ping) })
	work.Go(func() error { return watch(ctx, o.redisPart, loader.Ping) })
	return work.Wait()
}

// prepare brings schema, domains and the first key in place. It may be repeated
// from any point, by several origins at once.
func (o *origin) prepare(ctx context.Context, store *postgres.Store) error {
	if err := store.Migrate(ctx); err != nil {
		return err
	}
	for _, host := range o.cfg.Domains {
		value, err := json.Marshal(feed.Domain{Host: host})
		if err != nil {
			return err
		}
		change, err := store.WriteConfig(ctx, feed.DomainRow(host), string(value))
		if err != nil {
			return err
		}
		o.publisher.Publish([]*feed.Change{change})
	}
	return firstKey(ctx, links.NewKeys(store, time.Now), o.cfg.AdminKeyFile, o.stderr)
}

// admin builds the admin API on the store.
func (o *origin) admin(store *postgres.Store, generators *codes.Codes) (*api.API, error) {
	public, err := o.cfg.public()
	if err != nil {
		return nil, err
	}
	return api.New(api.Config{
		Links: links.New(links.Deps{
			Store: store, Config: store, Codes: generators, Publisher: o.publisher,
			PublicHost: publicHost(public), Schemes: o.cfg.Schemes,
		}),
		Keys: links.NewKeys(store, time.Now), Logger: o.logger, Metrics: o.registry,
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
