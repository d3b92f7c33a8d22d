package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"waypost/bench/fleet"
)

// keyPair is where an edge reads its certificate.
type keyPair struct{ cert, key string }

// issue writes a self-signed certificate with this serial number, each file replaced at once.
func (p keyPair) issue(t *testing.T, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "short.example"}, DNSNames: []string{"short.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	replace(t, p.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	replace(t, p.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

func replace(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// secure opens a TLS connection and tells the serial number of the edge's certificate.
func secure(t *testing.T, e *fleet.Edge) (conn *fleet.Conn, serial int64) {
	t.Helper()
	dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: 10 * time.Second}, Config: &tls.Config{
		ServerName: "short.example", InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"},
	}}
	c, err := dialer.DialContext(t.Context(), "tcp", e.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return fleet.NewConn(c), c.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestTLSCertificateIsReplacedWhileRunning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pair := keyPair{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
	pair.issue(t, 1)
	f := start(t, fleet.Spec{
		Edges:   []string{"eu"},
		EdgeEnv: map[string]string{"WAYPOST_TLS_CERT": pair.cert, "WAYPOST_TLS_KEY": pair.key},
	})
	e := f.Edges[0]
	l := f.API(t).MustCreate(t, fleet.Fields{"target": "https://example.com/tls"})
	f.Settle(t)
	works := func(conn *fleet.Conn) {
		t.Helper()
		r, err := conn.Ask(fleet.Request{Path: l.Path()})
		if err == nil {
			err = leads(r, l.Target)
		}
		if err != nil {
			t.Error(err)
		}
	}
	served := func(want int64) {
		t.Helper()
		fleet.Await(t, fmt.Sprintf("certificate %d is served", want), func() error {
			conn, serial := secure(t, e)
			works(conn)
			if serial != want {
				return fmt.Errorf("certificate %d", serial)
			}
			return nil
		})
	}
	old, serial := secure(t, e)
	if serial != 1 {
		t.Fatalf("certificate %d, want 1", serial)
	}
	works(old)
	pair.issue(t, 2)
	served(2)
	works(old) // a connection outlives the certificate it began with

	// A pair that cannot be read leaves the last good one in use, and the next good one is taken.
	replace(t, pair.cert, []byte("no certificate"))
	fleet.Pass(t, 3*time.Second)
	served(2)
	pair.issue(t, 3)
	served(3)
}
