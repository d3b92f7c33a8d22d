package httpd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// selfSigned is a certificate of short.example, and who trusts it.
func selfSigned(t *testing.T) (*Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"short.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, der []byte) (path string) {
		path = filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cert, err := NewCertificate(write("cert.pem", "CERTIFICATE", signed), write("key.pem", "PRIVATE KEY", private), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(signed)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return cert, roots
}

func TestADirectAnswerOverTLSIsFasthttps(t *testing.T) {
	t.Parallel()
	cert, roots := selfSigned(t)
	hit, miss := "GET /abc"+asked, "GET /absent"+asked
	requests := []string{hit, hit, miss, hit, hit, "GET /abc HTTP/1.1\r\nHost: short.example\r\nConnection: close\r\n\r\n", hit}
	got := map[bool]string{}
	resolved := map[bool]int64{}
	for _, direct := range []bool{true, false} {
		s := newStage(t)
		s.put(liveBody())
		a := s.answerBy(t, direct, cert, roots)
		got[direct] = a.exchanged(t, requests...)
		resolved[direct] = a.resolved.Load()
	}
	if got[true] != got[false] {
		t.Errorf("got\n%s\nwant\n%s", got[true], got[false])
	}
	// The first one, the miss, and the one that ends the connection.
	if resolved[true] != 3 || resolved[false] != 6 {
		t.Errorf("got %d and %d through fasthttp, want 3 and 6", resolved[true], resolved[false])
	}
}
