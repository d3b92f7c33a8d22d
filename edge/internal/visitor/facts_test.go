package visitor

import (
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"

	"waypost/shared/click"
	"waypost/shared/feed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	microsADay = int64(86_400_000_000)
	today      = 20_000
	noon       = today*microsADay + microsADay/2

	firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
)

var (
	proxy = netip.MustParseAddr("10.0.0.1")
	ann   = netip.MustParseAddr("192.0.2.1")
)

func newFacts(tb testing.TB) *Facts {
	tb.Helper()
	f, err := New(tb.Context(), Config{
		Trusted: func(peer netip.Addr) bool { return peer == proxy },
		Logger:  slog.New(slog.DiscardHandler),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func salt(day int64) feed.Salt { return feed.Salt{Day: day, Key: [32]byte{byte(day), 1}} }

func describe(f *Facts, from Request) click.Record {
	r := click.Record{At: noon, Referrer: "left over", Language: "left over", Country: "LO", Visitor: 99, Bot: true}
	if !from.Client.IsValid() {
		from.Client = ann
	}
	f.Describe(&from, &r)
	return r
}

func TestARecordSaysWhatTheHeadersSay(t *testing.T) {
	t.Parallel()
	f := newFacts(t)
	f.Learn([]feed.Salt{salt(today)})
	got := describe(f, Request{
		Agent: []byte(firefox), Referrer: []byte("https://News.Example:8443/a?b#c"), Language: []byte("de-AT,de;q=0.9"),
		Peer: proxy, Country: []byte("at"),
	})
	if got.Visitor == 0 {
		t.Error("got no visitor")
	}
	got.Visitor = 0
	want := click.Record{
		At: noon, Referrer: "news.example", Language: "de-at", Country: "AT",
		Device: click.Desktop, Browser: click.Firefox, OS: click.Linux,
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestWithoutHeadersARecordSaysNothing(t *testing.T) {
	t.Parallel()
	if got, want := describe(newFacts(t), Request{}), (click.Record{At: noon}); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestReferrersBecomeHosts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a.", 126) + "b"
	for referrer, want := range map[string]string{
		"https://example.com":                                        "example.com",
		"https://example.com/":                                       "example.com",
		"HTTPS://WWW.Example.COM./x":                                 "www.example.com",
		"http://example.com:80?q":                                    "example.com",
		"http://user:secret@example.com/":                            "example.com",
		"http://a@b@example.com#f":                                   "example.com",
		"http://[2001:DB8::1]:80/":                                   "[2001:db8::1]",
		"http://[2001:db8::1":                                        "",
		"android-app://com.google.android.gm/":                       "com.google.android.gm",
		"https://BÜCHER.example/":                                    "bücher.example",
		"https://example.com/" + strings.Repeat("x", 9<<10):          "example.com",
		"https://" + long + "/":                                      long,
		"https://" + long + "b/":                                     "",
		"https://" + strings.Repeat("u", 9<<10) + "@example.com/":    "",
		"https://\xff\xfe.example/":                                  "",
		"https://a b.example/":                                       "",
		"https://a\x00.example/":                                     "",
		"https://%61.example/":                                       "",
		"https:///x":                                                 "",
		"https://":                                                   "",
		"example.com/x":                                              "",
		"about:blank":                                                "",
		"https://xn--bcher-kva.example\\@evil.example/":              "xn--bcher-kva.example",
		"https://" + strings.Repeat("x", 300) + ".example/and more/": "",
	} {
		f := newFacts(t)
		for range 2 { // made, then remembered
			if got := describe(f, Request{Referrer: []byte(referrer)}).Referrer; got != want {
				t.Errorf("%.60q: got %q, want %q", referrer, got, want)
			}
		}
	}
}

func TestTheFirstLanguageCounts(t *testing.T) {
	t.Parallel()
	f := newFacts(t)
	for accept, want := range map[string]string{
		"en-US,en;q=0.5": "en-us", "fr": "fr", " de ; q=1": "de", "zh-Hant-TW,zh": "zh-hant-tw", "es-419": "es-419",
		"*": "", ",en": "", ";": "", "1a": "", "e\xff": "", "en_US": "", "": "",
		"x-sixteen-bytes1": "x-sixteen-bytes1", "x-seventeen-bytes": "", strings.Repeat("a", 9<<10): "",
	} {
		if got := describe(f, Request{Language: []byte(accept)}).Language; got != want {
			t.Errorf("%.40q: got %q, want %q", accept, got, want)
		}
	}
}

func TestAPrefetchIsABot(t *testing.T) {
	t.Parallel()
	f := newFacts(t)
	f.Learn([]feed.Salt{salt(today)})
	for purpose, want := range map[string]bool{
		"prefetch": true, "prefetch;prerender": true, "Prefetch": true, "preview": true, "": false, "navigate": false, "pre fetch": false,
	} {
		got := describe(f, Request{Agent: []byte(firefox), Purpose: []byte(purpose)})
		if got.Bot != want || (got.Visitor == 0) != want {
			t.Errorf("%q: got bot %v, visitor %d, want bot %v", purpose, got.Bot, got.Visitor, want)
		}
	}
}

func TestTheCountryHeaderIsATrustedProxys(t *testing.T) {
	t.Parallel()
	f := newFacts(t)
	for header, want := range map[string]string{
		"DE": "DE", "de": "DE", "ZZ": "ZZ", "AA": "AA", "XX": "", "T1": "", "D": "", "DEU": "", "": "", "\xc3\xa4": "", "d ": "",
	} {
		if got := describe(f, Request{Peer: proxy, Country: []byte(header)}).Country; got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
		if got := describe(f, Request{Peer: ann, Country: []byte(header)}).Country; got != "" {
			t.Errorf("%q of a stranger: got %q, want none", header, got)
		}
	}
}

func FuzzDescribe(f *testing.F) {
	f.Add(firefox, "https://example.com/", "en", "prefetch", "DE")
	f.Add("\xff", "://[", "\x80,", "", "\x00\x00")
	facts := newFacts(f)
	facts.Learn([]feed.Salt{salt(today)})
	f.Fuzz(func(t *testing.T, agent, referrer, language, purpose, country string) {
		got := describe(facts, Request{
			Agent: []byte(agent), Referrer: []byte(referrer), Language: []byte(language), Purpose: []byte(purpose),
			Peer: proxy, Country: []byte(country),
		})
		if len(got.Referrer) > click.MaxReferrer || !utf8.ValidString(got.Referrer) || strings.ToLower(got.Referrer) != got.Referrer {
			t.Errorf("referrer %q", got.Referrer)
		}
		if len(got.Language) > click.MaxLanguage || !utf8.ValidString(got.Language) {
			t.Errorf("language %q", got.Language)
		}
		if len(got.Country) != 0 && len(got.Country) != 2 {
			t.Errorf("country %q", got.Country)
		}
		if got.Bot != (got.Visitor == 0) {
			t.Errorf("bot %v, visitor %d", got.Bot, got.Visitor)
		}
		again, err := click.ParseRecord(got.Append(nil))
		if err != nil || again != got {
			t.Errorf("%+v came back as %+v, %v", got, again, err)
		}
	})
}
