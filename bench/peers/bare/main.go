// Command bare is fasthttp with nothing behind it: it answers every request with the same redirect, in as many bytes as
// an edge of Waypost.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

// shutdownLimit bounds the end.
const shutdownLimit = 100 * time.Millisecond

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bare", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:8090", "host:port to listen on")
	location := flags.String("location", "", "where every request is redirected to")
	cacheStatus := flags.String("cache-status", "", "value of Cache-Status")
	if err := flags.Parse(args); err != nil {
		return err
	}
	server := fasthttp.Server{
		Handler: func(ctx *fasthttp.RequestCtx) {
			header := &ctx.Response.Header
			header.SetStatusCode(fasthttp.StatusFound)
			header.Set(fasthttp.HeaderLocation, *location)
			header.Set(fasthttp.HeaderCacheControl, "no-store")
			header.Set("Cache-Status", *cacheStatus)
		},
		// What an edge does not send either.
		NoDefaultServerHeader: true,
		NoDefaultContentType:  true,
		CloseOnShutdown:       true,
	}
	served := make(chan error, 1)
	go func() { served <- server.ListenAndServe(*listen) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownLimit)
	defer cancel()
	// Connections that are kept alive never end by themselves: they go with the process.
	if err := server.ShutdownWithContext(stop); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
