package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	newest     = 100                 // clicks that are kept of a link
	visitorTTL = 30 * 24 * time.Hour // of a day's visitors
)

// links answers "/{code}" by the hash link:{code}. Safe for concurrent use.
type links struct {
	redis  *redis.Client
	logger *slog.Logger
}

// ServeHTTP redirects a visitor and counts the click, in two round trips.
func (l *links) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	code := strings.TrimPrefix(r.URL.Path, "/")
	target, err := l.redis.HGet(r.Context(), "link:"+code, "target").Result()
	if err == nil {
		err = l.count(r.Context(), code, r)
	}
	switch {
	case errors.Is(err, redis.Nil):
		http.NotFound(w, r)
	case err != nil:
		l.logger.Error("redirect", slog.String("code", code), slog.Any("error", err))
		http.Error(w, "unavailable", http.StatusServiceUnavailable)
	default:
		http.Redirect(w, r, target, http.StatusFound) //nolint:gosec // to what was stored for the code, which is the purpose
	}
}

// count adds a click to all that is kept of a link, in one pipeline.
func (l *links) count(ctx context.Context, code string, r *http.Request) error {
	now := time.Now().UTC()
	client, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	visitors := "visitors:" + code + ":" + now.Format(time.DateOnly)
	_, err = l.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.HIncrBy(ctx, "link:"+code, "clicks", 1)
		p.LPush(ctx, "clicks:"+code, now.Format(time.RFC3339)+" "+client+" "+r.UserAgent())
		p.LTrim(ctx, "clicks:"+code, 0, newest-1)
		p.SAdd(ctx, visitors, client)
		p.Expire(ctx, visitors, visitorTTL)
		p.ZIncrBy(ctx, "top", 1, code)
		return nil
	})
	return err
}
