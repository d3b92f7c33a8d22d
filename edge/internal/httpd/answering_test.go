package httpd

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"waypost/edge/internal/redirect"
	"waypost/shared/link"
)

// answering is a server over a stage, whose entries L1 has. resolved counts the
// requests that came through fasthttp.
type answering struct {
	*stage
	addr     string
	resolved atomic.Int64
	asks     atomic.Int64 // of the limiter
	stop     func() error
	roots    *x509.CertPool // of its certificate; nil: it does not speak TLS
}

// answer runs a server over the stage until the test ends. Without direct all
// requests go through fasthttp.
func (s *stage) answer(t *testing.T, direct bool) *answering {
	t.Helper()
	return s.answerBy(t, direct, nil, nil)
}

// answerBy does so over TLS, unless cert is nil.
func (s *stage) answerBy(t *testing.T, direct bool, cert *Certificate, roots *x509.CertPool) *answering {
	t.Helper()
	a := &answering{stage: s, roots: roots}
	cfg := a.config()
	if !direct {
		cfg.Held = nil
	}
	resolve, admit := cfg.Resolve, cfg.Admit
	cfg.Resolve = func(ctx context.Context, domain string, code []byte, hash uint64) (redirect.Answer, error) {
		a.resolved.Add(1)
		return resolve(ctx, domain, code, hash)
	}
	cfg.Admit = func(ctx context.Context, client netip.Addr) (int, bool) {
		a.asks.Add(1)
		return admit(ctx, client)
	}
	ctx, cancel := context.WithCancel(t.Context())
	server := New(ctx, cfg, 0)
	if err := server.Listen(ctx, "127.0.0.1:0", cert); err != nil {
		t.Fatal(err)
	}
	a.addr = server.Addr()
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	stopped := false
	a.stop = func() error {
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if stopped {
			return
		}
		if err := a.stop(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// config is the stage's, with all its entries in L1.
func (a *answering) config() Config {
	cfg := a.Config
	cfg.Held = func(domain string, code []byte, _ uint64) (redirect.Answer, bool) {
		e := a.entries[link.Key{Domain: domain, Code: string(code)}]
		return redirect.Answer{Entry: e, Tier: redirect.L1, Lease: a.lease}, e != nil
	}
	return cfg
}

// sink is a connection that takes all and keeps nothing.
type sink struct{ net.Conn }

func (sink) Write(p []byte) (int, error)      { return len(p), nil }
func (sink) SetWriteDeadline(time.Time) error { return nil }

func (a *answering) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", a.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if a.roots != nil {
		return tls.Client(conn, &tls.Config{RootCAs: a.roots, ServerName: "short.example", MinVersion: tls.VersionTLS12})
	}
	return conn
}

var dateLine = regexp.MustCompile(`(?m)^Date: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r$`)

// exchanged sends requests on one connection, one after the other, and returns all
// that came back until the server closed it or closeBehind was answered. Dates are
// taken out.
func (a *answering) exchanged(t *testing.T, requests ...string) string {
	t.Helper()
	conn := a.dial(t)
	answers := bufio.NewReader(conn)
	var all strings.Builder
	for _, request := range requests {
		if _, err := io.WriteString(conn, request); err != nil {
			return all.String() + "closed\n"
		}
		var raw bytes.Buffer
		tee := bufio.NewReader(io.TeeReader(answers, &raw))
		method, _, _ := strings.Cut(request, " ")
		resp, err := http.ReadResponse(tee, &http.Request{Method: method})
		if err != nil {
			return all.String() + "closed\n"
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if !dateLine.Match(raw.Bytes()) {
			t.Errorf("%.40q: no date in %q", request, raw.String())
		}
		all.WriteString(dateLine.ReplaceAllString(raw.String(), "Date\r"))
	}
	return all.String()
}

const asked = " HTTP/1.1\r\nHost: short.example\r\nUser-Agent: x\r\n\r\n"
