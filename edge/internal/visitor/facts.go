package visitor

import (
	"bytes"
	"context"
	"log/slog"
	"net/netip"

	"waypost/shared/click"
	"waypost/shared/feed"
)

// How many different values are remembered. The busy ones are few; together
// they hold at most some 2 MiB.
const (
	agentsHeld    = 1 << 14
	referrersHeld = 1 << 12
	languagesHeld = 1 << 10
)

// Config is what Facts are made of.
type Config struct {
	// CountryFile is a file in MaxMind's format with the countries of addresses,
	// such as GeoLite2 and DB-IP have; "" for none.
	CountryFile string
	// Trusted says whose country header is believed.
	Trusted func(peer netip.Addr) bool
	Logger  *slog.Logger
}

// Request is what a request says of its sender. The slices are its header
// lines' bytes, nil where it has none, and are not kept.
type Request struct {
	Client   netip.Addr // the visitor, by the trusted proxies in between
	Peer     netip.Addr // who the connection is to
	Agent    []byte     // User-Agent
	Referrer []byte     // Referer
	Language []byte     // Accept-Language
	Purpose  []byte     // Sec-Purpose, Purpose or X-Moz
	Country  []byte     // the header in which a proxy says the visitor's country
}

// Facts describe visitors. It is safe for concurrent use; a visitor like one
// before costs no allocation.
type Facts struct {
	trusted   func(netip.Addr) bool
	agents    memo[agent]
	referrers memo[string]
	languages memo[string]
	countries countries
	codes     alphabet
	salts     salts
}

// New makes Facts and reads the country file once; that it cannot be read is no
// error but a line in the log.
func New(ctx context.Context, cfg Config) (*Facts, error) {
	reader, err := newAgentReader(agentRules)
	if err != nil {
		return nil, err
	}
	f := &Facts{
		trusted:   cfg.Trusted,
		agents:    newMemo(agentsHeld, reader.read),
		referrers: newMemo(referrersHeld, hostOf),
		languages: newMemo(languagesHeld, languageOf),
		countries: countries{file: cfg.CountryFile, logger: cfg.Logger},
		codes:     newAlphabet(),
	}
	if cfg.CountryFile != "" {
		f.countries.load(ctx)
	}
	return f, nil
}

// Run takes over the country file whenever it changes, until ctx ends.
func (f *Facts) Run(ctx context.Context) error {
	if f.countries.file == "" {
		<-ctx.Done()
		return nil
	}
	f.countries.watch(ctx)
	return nil
}

// Learn takes the days' salts of a probe's answer.
func (f *Facts) Learn(given []feed.Salt) { f.salts.learn(given) }

// Describe fills in all that a record says of the visitor. r.At must be set: it
// says whose day's salt hides the visitor. A bot is no visitor.
func (f *Facts) Describe(from *Request, r *click.Record) {
	a := f.agents.get(from.Agent[:min(len(from.Agent), maxAgent)])
	r.Device, r.Browser, r.OS = a.device, a.browser, a.os
	r.Bot = a.bot || len(from.Purpose) > 0 && isPrefetch(from.Purpose)
	r.Referrer, r.Language = "", ""
	if host := rawHost(from.Referrer); len(host) > 0 {
		r.Referrer = f.referrers.get(host)
	}
	if tag := rawLanguage(from.Language); len(tag) > 0 {
		r.Language = f.languages.get(tag)
	}
	r.Country = f.codes.name(f.country(from))
	r.Visitor = 0
	if !r.Bot {
		r.Visitor = f.salts.visitor(r.At, from.Client, a.digest)
	}
}

// country is by the file, else by the header of a proxy that is trusted.
func (f *Facts) country(from *Request) letters {
	if l := f.countries.of(from.Client); l != 0 {
		return l
	}
	if len(from.Country) > 0 && f.trusted(from.Peer) {
		return lettersOf(from.Country)
	}
	return 0
}

// isPrefetch says of a request's purpose that nobody may ever look at the answer.
func isPrefetch(purpose []byte) bool {
	for _, word := range [...]string{"prefetch", "prerender", "preview"} {
		if containsFold(purpose[:min(len(purpose), 64)], word) {
			return true
		}
	}
	return false
}

// containsFold is bytes.Contains for a word in lower case, whatever the case of
// text.
func containsFold(text []byte, word string) bool {
	for ; len(text) >= len(word); text = text[1:] {
		if bytes.EqualFold(text[:len(word)], []byte(word)) {
			return true
		}
	}
	return false
}

// Stats counts since the start.
type Stats struct {
	Unsalted       uint64 // visitors whose day had no salt, so that they count in no unique visitors
	CountriesBuilt int64  // seconds since 1970: when the country file in use was made; 0 for none
}

// Stats may be called at any time.
func (f *Facts) Stats() Stats {
	s := Stats{Unsalted: f.salts.missing.Load()}
	if d := f.countries.current.Load(); d != nil {
		s.CountriesBuilt = d.reader.Metadata.BuildTime().Unix()
	}
	return s
}
