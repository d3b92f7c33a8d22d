package httpd

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// reloadEvery is how often the certificate's files are looked at.
const reloadEvery = 2 * time.Second

// Certificate serves a key pair from files and takes over their new content
// when they change, so that a renewal needs no restart.
type Certificate struct {
	certFile, keyFile string
	logger            *slog.Logger
	current           atomic.Pointer[tls.Certificate]
	seen              [2]fileStamp
}

type fileStamp struct {
	modified time.Time
	size     int64
}

// NewCertificate reads the pair once; Run keeps it fresh.
func NewCertificate(certFile, keyFile string, logger *slog.Logger) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, logger: logger}
	if err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

// TLS is a server's configuration with the current certificate.
func (c *Certificate) TLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.current.Load(), nil
		},
	}
}

// Run looks at the files until ctx ends. A pair that cannot be read is one log
// line a change; the last good one stays in use.
func (c *Certificate) Run(ctx context.Context) error {
	ticker := time.NewTicker(reloadEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if c.stamps() == c.seen {
				continue
			}
			if err := c.load(); err != nil {
				c.logger.Error("certificate not reloaded, the last good one stays", slog.Any("error", err))
				continue
			}
			c.logger.Info("certificate reloaded", slog.String("file", c.certFile))
		}
	}
}

func (c *Certificate) load() error {
	c.seen = c.stamps() // before reading: a change in between is seen next time
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	c.current.Store(&pair)
	return nil
}

func (c *Certificate) stamps() (s [2]fileStamp) {
	for i, name := range [2]string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			s[i] = fileStamp{modified: info.ModTime(), size: info.Size()}
		}
	}
	return s
}
