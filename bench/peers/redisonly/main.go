// Command redisonly is a shortener whose only storage is Redis, as it is commonly built: a hash a link, and the clicks
// counted there by every redirect.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// shutdownLimit bounds the end, headLimit the reading of a request.
const (
	shutdownLimit = time.Second
	headLimit     = 10 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "redisonly:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("redisonly", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:8091", "host:port to listen on")
	store := flags.String("redis", "redis://127.0.0.1:6379/0", "URL of the Redis that holds the links")
	if err := flags.Parse(args); err != nil {
		return err
	}
	options, err := redis.ParseURL(*store)
	if err != nil {
		return err
	}
	links := &links{redis: redis.NewClient(options), logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	defer links.redis.Close() //nolint:errcheck // the process ends
	server := &http.Server{Addr: *listen, Handler: links, ReadHeaderTimeout: headLimit}
	served := make(chan error, 1)
	go func() { served <- server.ListenAndServe() }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownLimit)
	defer cancel()
	if err := server.Shutdown(stop); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
