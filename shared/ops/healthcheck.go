package ops

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"
)

const healthcheckTimeout = 3 * time.Second

// Healthcheck asks the side listener at addr whether its process is up, for
// images without a shell or curl. addr is what the service listens on: without
// a host, or with 0.0.0.0 or ::, loopback is asked. It takes 3 s at most.
func Healthcheck(ctx context.Context, addr string) error {
	addr, err := dialled(addr)
	if err != nil {
		return fmt.Errorf("health check: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/healthz", nil)
	if err != nil {
		return fmt.Errorf("health check: %w", err)
	}
	// A transport of its own: no proxy of the environment, nothing kept open.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: healthcheckTimeout}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("health check: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("health check of %s: status %d", addr, response.StatusCode)
	}
	return nil
}

// dialled turns an address to listen on into one to dial.
func dialled(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.Is6() {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port), nil
}
