package profile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/google/pprof/profile"
)

// kind is a profile, by its name below /debug/pprof/.
type kind string

// What is taken of every work.
const (
	cpu    kind = "profile"
	allocs kind = "allocs"
	mutex  kind = "mutex"
	block  kind = "block"
)

// file is the profile's name on disk, without its extension.
func (k kind) file() string {
	if k == cpu {
		return "cpu"
	}
	return string(k)
}

// maxProfile bounds a profile, in bytes, and patience the wait for it once its time is over.
const (
	maxProfile = 64 << 20
	patience   = 30 * time.Second
)

// take takes a profile of what a process does in so many seconds, by its ops listener, and keeps it as a file.
func take(ctx context.Context, ops string, k kind, seconds int, file string) (*profile.Profile, error) {
	raw, err := fetch(ctx, fmt.Sprintf("http://%s/debug/pprof/%s?seconds=%d", ops, k, seconds), time.Duration(seconds)*time.Second+patience)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", k, ops, err)
	}
	p, err := profile.ParseData(raw)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", k, ops, err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // results are for everybody
		return nil, err
	}
	return p, os.WriteFile(file, raw, 0o644) //nolint:gosec // results are for everybody
}

// fetch reads a page by a connection of its own.
func fetch(ctx context.Context, url string, limit time.Duration) (body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	transport := http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxProfile))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %.200s", resp.StatusCode, body)
	}
	return body, err
}
