package e2e

import (
	"bytes"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"

	"waypost/bench/fleet"
)

// countryFile says that addresses of a documentation network are in Germany.
func countryFile(t *testing.T) string {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "GeoLite2-Country", RecordSize: 24, IPVersion: 6, IncludeReservedNetworks: true})
	if err != nil {
		t.Fatal(err)
	}
	_, network, err := net.ParseCIDR("203.0.113.0/24")
	if err == nil {
		err = tree.Insert(network, mmdbtype.Map{"country": mmdbtype.Map{"iso_code": mmdbtype.String("DE")}})
	}
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := tree.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "country.mmdb")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestFactsOfAClickAreThoseOfItsVisitorWhateverTheHeaderHolds(t *testing.T) {
	t.Parallel()
	spec := trusting("eu")
	spec.EdgeEnv["WAYPOST_COUNTRY_HEADER"] = "CF-IPCountry"
	spec.EdgeEnv["WAYPOST_GEOIP_FILE"] = countryFile(t)
	c := count(t, start(t, spec))
	self := netip.MustParseAddr("127.0.0.1")
	const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	none := fleet.Click{Region: "eu", Device: "other", Browser: "other", OS: "other"}
	with := func(change func(c *fleet.Click)) fleet.Click {
		changed := none
		change(&changed)
		return changed
	}
	country := func(code string) fleet.Click { return with(func(c *fleet.Click) { c.Country = code }) }
	referrer := func(host string) fleet.Click { return with(func(c *fleet.Click) { c.Referrer = host }) }
	cases := []struct {
		name     string
		from     netip.Addr
		header   map[string]string
		want     fleet.Click
		language string
		link     fleet.Link
	}{
		{name: "no header at all", from: self, want: none},
		{
			name: "a browser", from: self, language: "de-at",
			header: map[string]string{"User-Agent": firefox, "Referer": "https://News.Example:8443/a?b#c", "Accept-Language": "de-AT,de;q=0.5"},
			want: with(func(c *fleet.Click) {
				c.Device, c.Browser, c.OS, c.Referrer = "desktop", "firefox", "linux", "news.example"
			}),
		},
		{name: "a crawler", from: self, header: map[string]string{"User-Agent": crawler}, want: with(func(c *fleet.Click) { c.Bot = true })},
		{name: "a prefetch", from: self, header: map[string]string{"Purpose": "prefetch"}, want: with(func(c *fleet.Click) { c.Bot = true })},
		{name: "a country by a proxy", from: proxy, header: map[string]string{"CF-IPCountry": "nl", "X-Forwarded-For": "198.51.100.1"}, want: country("NL")},
		{name: "a country by a visitor", from: self, header: map[string]string{"CF-IPCountry": "NL"}, want: country("")},
		{name: "no country by a proxy", from: proxy, header: map[string]string{"CF-IPCountry": "XX"}, want: country("")},
		{name: "an address of the file", from: proxy, header: map[string]string{"CF-IPCountry": "NL", "X-Forwarded-For": "203.0.113.7"}, want: country("DE")},
		{name: "an address by a visitor", from: self, header: map[string]string{"X-Forwarded-For": "203.0.113.7"}, want: country("")},
		{name: "a long referrer", from: self, header: map[string]string{"Referer": "https://news.example/" + strings.Repeat("x", 9<<10)}, want: referrer("news.example")},
		{name: "a referrer's host that is none", from: self, header: map[string]string{"Referer": "https://" + strings.Repeat("x", 9<<10) + ".example/"}, want: referrer("")},
		{name: "a referrer with a name", from: self, header: map[string]string{"Referer": "https://user:secret@news.example/"}, want: referrer("news.example")},
		{name: "no referrer but text", from: self, header: map[string]string{"Referer": "news"}, want: referrer("")},
		{
			name: "no UTF-8", from: self, want: none,
			header: map[string]string{"Referer": "https://\xff\xfe.example/", "User-Agent": "\xff\xc0\xaf", "Accept-Language": "\xff-\xfe"},
		},
		{name: "empty headers", from: self, header: map[string]string{"Referer": "", "User-Agent": "", "Accept-Language": "", "CF-IPCountry": ""}, want: none},
		{name: "any language", from: self, header: map[string]string{"Accept-Language": "*"}, want: none},
	}
	for i := range cases {
		cases[i].link = c.api.MustCreate(t, fleet.Fields{"target": targetOf("facts", i)})
	}
	c.Settle(t)
	for _, x := range cases {
		conn, err := fleet.Connect(t.Context(), c.Edges[0].Addr, x.from)
		if err != nil {
			t.Fatal(err)
		}
		r, err := conn.Ask(fleet.Request{Path: x.link.Path(), Header: x.header})
		if err == nil {
			err = leads(r, x.link.Target)
		}
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		_ = conn.Close()
	}
	c.settle(t)
	for _, x := range cases {
		newest, err := c.api.Clicks(t.Context(), x.link)
		if err != nil || len(newest) != 1 {
			t.Errorf("%s: got clicks %v, %v, want one", x.name, newest, err)
			continue
		}
		x.want.At = newest[0].At
		if newest[0] != x.want {
			t.Errorf("%s: got %+v, want %+v", x.name, newest[0], x.want)
		}
		s, want := c.stats(t, x.link), func(value, otherwise string) string {
			if value == "" {
				return otherwise
			}
			return value
		}
		for name, share := range map[string]uint64{
			"referrer": s.ByReferrer[want(x.want.Referrer, "direct")], "country": s.ByCountry[want(x.want.Country, "unknown")],
			"language": s.ByLanguage[want(x.language, "unknown")], "device": s.ByDevice[x.want.Device],
			"browser": s.ByBrowser[x.want.Browser], "os": s.ByOS[x.want.OS],
		} {
			if share != 1 {
				t.Errorf("%s: statistics by %s do not have it: %+v", x.name, name, s)
			}
		}
	}
}
