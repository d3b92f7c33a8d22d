package visitor

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
)

var berlin = netip.MustParseAddr("203.0.113.7")

// countryFile writes a file laid out as GeoLite2-City is: names and places
// around the code that counts.
func countryFile(tb testing.TB) string {
	tb.Helper()
	return writeCountries(tb, filepath.Join(tb.TempDir(), "city.mmdb"), 6, map[string]string{
		"203.0.113.0/24": "DE", "198.51.100.0/24": "FR", "2001:db8:1::/48": "US",
	})
}

func writeCountries(tb testing.TB, name string, version int, countries map[string]string) string {
	tb.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "GeoLite2-City", RecordSize: 24, IPVersion: version, IncludeReservedNetworks: true})
	if err != nil {
		tb.Fatal(err)
	}
	for network, code := range countries {
		_, prefix, err := net.ParseCIDR(network)
		if err != nil {
			tb.Fatal(err)
		}
		if err := tree.Insert(prefix, mmdbtype.Map{
			"city":      mmdbtype.Map{"names": mmdbtype.Map{"en": mmdbtype.String("City of " + code)}},
			"continent": mmdbtype.Map{"code": mmdbtype.String("EU")},
			"country":   mmdbtype.Map{"geoname_id": mmdbtype.Uint32(1), "iso_code": mmdbtype.String(code)},
		}); err != nil {
			tb.Fatal(err)
		}
	}
	var b bytes.Buffer
	if _, err := tree.WriteTo(&b); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		tb.Fatal(err)
	}
	return name
}

func newFactsWith(t *testing.T, file string) (*Facts, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	f, err := New(t.Context(), Config{
		CountryFile: file, Trusted: func(peer netip.Addr) bool { return peer == proxy },
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return f, &log
}

func TestTheFileKnowsAddressesCountries(t *testing.T) {
	t.Parallel()
	f, log := newFactsWith(t, countryFile(t))
	for address, want := range map[string]string{
		"203.0.113.7": "DE", "203.0.113.200": "DE", "::ffff:203.0.113.7": "DE", "198.51.100.1": "FR", "2001:db8:1::5": "US",
		"192.0.2.1": "", "2001:db8:2::5": "",
	} {
		for range 2 { // decoded, then remembered
			if got := describe(f, Request{Client: netip.MustParseAddr(address)}).Country; got != want {
				t.Errorf("%s: got %q, want %q", address, got, want)
			}
		}
	}
	if got := describe(f, Request{Client: berlin, Peer: proxy, Country: []byte("NL")}).Country; got != "DE" {
		t.Errorf("got %q, want the file's DE before the header's NL", got)
	}
	if got := describe(f, Request{Client: ann, Peer: proxy, Country: []byte("NL")}).Country; got != "NL" {
		t.Errorf("got %q, want the header's NL where the file knows nothing", got)
	}
	if log.Len() > 0 {
		t.Errorf("got warnings: %s", log)
	}
}

func TestAFileOfIPv4AloneKnowsNoOthers(t *testing.T) {
	t.Parallel()
	f, _ := newFactsWith(t, writeCountries(t, filepath.Join(t.TempDir(), "v4.mmdb"), 4, map[string]string{"203.0.113.0/24": "DE"}))
	for address, want := range map[netip.Addr]string{berlin: "DE", netip.MustParseAddr("2001:db8::1"): ""} {
		if got := describe(f, Request{Client: address}).Country; got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}

func TestAMissingOrBrokenFileIsOneWarning(t *testing.T) {
	t.Parallel()
	good, err := os.ReadFile(countryFile(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"missing": nil, "empty": {}, "garbage": []byte(strings.Repeat("garbage", 100)),
		"half": good[:len(good)/2], "without its tree": good[len(good)/2:],
	} {
		file := filepath.Join(dir, name)
		if content != nil {
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f, log := newFactsWith(t, file)
		if got := describe(f, Request{Client: berlin, Peer: proxy, Country: []byte("NL")}).Country; got != "NL" {
			t.Errorf("%s: got %q, want the header's NL", name, got)
		}
		if got := strings.Count(log.String(), "\n"); got != 1 {
			t.Errorf("%s: got %d lines: %s", name, got, log)
		}
		if got := f.Stats().CountriesBuilt; got != 0 {
			t.Errorf("%s: got a file made at %d, want none", name, got)
		}
	}
}

func TestDamageInsideTheFileIsNoCountry(t *testing.T) {
	t.Parallel()
	good, err := os.ReadFile(countryFile(t))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "damaged.mmdb")
	for at := 0; at < len(good); at += 3 {
		damaged := bytes.Clone(good)
		damaged[at] ^= 0xff
		if err := os.WriteFile(file, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := openDatabase(file)
		if err != nil {
			continue
		}
		d.country(berlin) // any answer but a panic
		d.country(netip.MustParseAddr("2001:db8:1::5"))
	}
}

func TestANewFileIsTakenOver(t *testing.T) {
	t.Parallel()
	file := countryFile(t)
	f, log := newFactsWith(t, file)
	country := func() string { return describe(f, Request{Client: berlin}).Country }
	if got := country(); got != "DE" {
		t.Fatalf("got %q, want DE", got)
	}
	c := &f.countries
	change := func(write func()) bool {
		write()
		// A file system may keep times too coarse to tell two writes of a test apart.
		if err := os.Chtimes(file, time.Time{}, c.seen.modified.Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		return c.reload(t.Context())
	}
	if c.reload(t.Context()) {
		t.Error("an unchanged file was read again")
	}
	if !change(func() { writeCountries(t, file, 6, map[string]string{"203.0.113.0/24": "AT"}) }) || country() != "AT" {
		t.Errorf("got %q, want AT", country())
	}
	broken := func() {
		if err := os.WriteFile(file, []byte("broken"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !change(broken) || country() != "AT" {
		t.Errorf("got %q after the file broke, want the last good one's AT", country())
	}
	if c.reload(t.Context()) || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("a broken file that stays as it is: got %s, want one warning", log)
	}
	if !change(func() { writeCountries(t, file, 6, map[string]string{"203.0.113.0/24": "CH"}) }) || country() != "CH" {
		t.Errorf("got %q, want CH", country())
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", countryFile(t)} {
		f, _ := newFactsWith(t, file)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- f.Run(ctx) }()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("got error %v", err)
		}
	}
}
