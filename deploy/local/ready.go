package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"waypost/deploy/process"
)

// readyLimit bounds the wait for one service at the first start.
const readyLimit = 60 * time.Second

// awaitReady asks url until it answers 200. The error says what the last answer was, or that the process ended.
func awaitReady(ctx context.Context, url string, p *process.Process) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 2 * time.Second}
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := ask(ctx, client, url)
		if err == nil {
			return nil
		}
		select {
		case <-p.Done():
			if exit := p.Wait(); exit != nil {
				return fmt.Errorf("it ended before it was ready: %w", exit)
			}
			return errors.New("it ended before it was ready: exit status 0")
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w: %w", ctx.Err(), err)
		case <-ticker.C:
		}
	}
}

// ask returns nil for a 200.
func ask(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s", url, resp.Status, body)
	}
	return nil
}
