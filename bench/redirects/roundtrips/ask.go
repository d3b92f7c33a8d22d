package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"github.com/valyala/fasthttp"
)

// asking asks for a name and waits for the answer, which must be there. What one worker asks never overlaps.
type asking func(ctx context.Context, worker int, name string) error

// connect makes the clients of so many workers. hangUp ends their connections.
func connect(ctx context.Context, kind, url string, workers int) (ask asking, hangUp func(context.Context) error, err error) {
	switch kind {
	case "redis":
		return toRedis(url)
	case "postgres":
		return toPostgres(ctx, url, workers)
	case "http":
		return toHTTP(url, workers)
	default:
		return nil, nil, fmt.Errorf("-kind is %q, not redis, postgres or http", kind)
	}
}

func toRedis(url string) (asking, func(context.Context) error, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, nil, err
	}
	client := redis.NewClient(options)
	ask := func(ctx context.Context, _ int, name string) error { return client.Get(ctx, name).Err() }
	return ask, func(context.Context) error { return client.Close() }, nil
}

// toPostgres opens a connection for each worker, which keeps the statement prepared.
func toPostgres(ctx context.Context, url string, workers int) (asking, func(context.Context) error, error) {
	conns := make([]*pgx.Conn, workers)
	hangUp := func(ctx context.Context) error {
		var failed []error
		for _, c := range conns {
			if c != nil {
				failed = append(failed, c.Close(ctx))
			}
		}
		return errors.Join(failed...)
	}
	for i := range conns {
		var err error
		if conns[i], err = pgx.Connect(ctx, url); err != nil {
			return nil, nil, errors.Join(err, hangUp(ctx))
		}
	}
	ask := func(ctx context.Context, worker int, name string) error {
		var id, version int64
		var target string
		return conns[worker].QueryRow(ctx, `SELECT link_id, version, target FROM links WHERE domain = '' AND code = $1`, name).Scan(&id, &version, &target)
	}
	return ask, hangUp, nil
}

func toHTTP(url string, workers int) (asking, func(context.Context) error, error) {
	client := &fasthttp.Client{MaxConnsPerHost: workers}
	ask := func(_ context.Context, _ int, name string) error {
		request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		defer fasthttp.ReleaseRequest(request)
		defer fasthttp.ReleaseResponse(response)
		request.SetRequestURI(url + "/" + name)
		if err := client.Do(request, response); err != nil {
			return err
		}
		if got := response.StatusCode(); got != fasthttp.StatusFound {
			return fmt.Errorf("status %d, want %d", got, fasthttp.StatusFound)
		}
		return nil
	}
	return ask, func(context.Context) error { client.CloseIdleConnections(); return nil }, nil
}
