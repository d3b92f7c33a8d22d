package main

import (
	"cmp"
	"net"
	"net/netip"
	"os"
	"regexp"
	"time"

	"waypost/shared/settings"
)

// config is everything that can be set from outside, by flag or environment.
type config struct {
	Region    string `env:"WAYPOST_REGION" default:"local" help:"name of this edge's region: letters, digits and -"`
	EdgeID    string `env:"WAYPOST_EDGE_ID" computed:"host name and port" help:"name of this edge"`
	Listen    string `env:"WAYPOST_LISTEN" default:":8080" format:"address" help:"public listener"`
	OpsListen string `env:"WAYPOST_OPS_LISTEN" default:"127.0.0.1:9180" format:"address" help:"listener of /healthz, /readyz, /metrics and /debug/pprof/"`
	TLSCert   string `env:"WAYPOST_TLS_CERT" help:"certificate file (PEM) of the public listener, read again when it changes"`
	TLSKey    string `env:"WAYPOST_TLS_KEY" help:"key file (PEM) of the certificate"`
	HomeURL   string `env:"WAYPOST_HOME_URL" format:"http" help:"where / redirects to"`

	OriginURLs []string `env:"WAYPOST_ORIGIN_URL" default:"http://127.0.0.1:9001" format:"http" required:"true" help:"internal listeners of the origins, the preferred one first"`
	Secret     string   `env:"WAYPOST_INTERNAL_SECRET" secret:"true" help:"shared secret of the origins' internal listeners"`
	RedisURL   string   `env:"WAYPOST_REDIS_URL" default:"redis://127.0.0.1:6379" secret:"true" format:"url" help:"the region's Redis, redis://127.0.0.1:6379 if left out; a cluster with ?addr=host:port for each further node"`
	RedisKeys  string   `env:"WAYPOST_REDIS_PREFIX" default:"wp" help:"beginning of all keys in Redis"`
	NATSURL    []string `env:"WAYPOST_NATS_URL" default:"nats://127.0.0.1:4222" secret:"true" format:"url" help:"NATS servers that carry the changes, nats://127.0.0.1:4222 if left out"`
	Subjects   string   `env:"WAYPOST_NATS_PREFIX" default:"waypost" help:"beginning of all NATS subjects, the same as at the origins"`

	TrustedProxies []netip.Prefix `env:"WAYPOST_TRUSTED_PROXIES" help:"networks whose X-Forwarded-For is believed"`
	LimitMode      string         `env:"WAYPOST_LIMIT_MODE" default:"async" enum:"async,exact,off" help:"rate limiter: in memory and settled with Redis, in Redis, or none"`
	LimitRate      float64        `env:"WAYPOST_LIMIT_RATE" default:"50" unit:"requests a second and client" min:"0.01" max:"1000000" help:"refill of a client's bucket"`
	LimitBurst     int            `env:"WAYPOST_LIMIT_BURST" default:"100" unit:"requests" min:"1" max:"1000000" help:"size of a client's bucket"`

	Clicks        string         `env:"WAYPOST_CLICKS" default:"on" enum:"on,off" help:"whether clicks are counted; off: nothing is recorded of anybody"`
	ClicksSync    string         `env:"WAYPOST_CLICKS_SYNC" default:"off" enum:"off,group" help:"what a counted click survives: off, the end of the process, however it ends; group, also a loss of power, for up to 5 ms a redirect"`
	ClicksDisk    settings.Bytes `env:"WAYPOST_CLICKS_DISK" default:"1GiB" min:"16MiB" help:"disk for clicks that no origin has taken yet; beyond it the oldest are added up, none is dropped"`
	GeoIPFile     string         `env:"WAYPOST_GEOIP_FILE" help:"file with the countries of addresses (MMDB, such as GeoLite2 or DB-IP country or city), read again when it changes"`
	CountryHeader string         `env:"WAYPOST_COUNTRY_HEADER" help:"header in which a trusted proxy says a visitor's country, such as CF-IPCountry; asked where the file knows none"`

	L1Bytes    settings.Bytes `env:"WAYPOST_L1_BYTES" default:"256MiB" min:"1MiB" help:"memory for entries in this process"`
	StaleCap   time.Duration  `env:"WAYPOST_STALE_CAP" default:"24h" min:"1m" max:"720h" help:"for how long an answer may go out marked as stale while no origin answers, and for how long Redis keeps an entry"`
	FilterKeys uint64         `env:"WAYPOST_FILTER_KEYS" default:"1000000" unit:"links" min:"1000" max:"1000000000" help:"number of links the Bloom filter is laid out for"`
	FilterRate float64        `env:"WAYPOST_FILTER_RATE" default:"0.01" unit:"share" min:"0.0001" max:"0.5" help:"unknown codes that the filter lets through when it is full"`
	MaxConns   int            `env:"WAYPOST_MAX_CONNECTIONS" default:"65536" unit:"connections" min:"1" max:"10000000" help:"visitors' connections at once; each may hold some 40 KiB"`
	MaxFills   int            `env:"WAYPOST_MAX_FILLS" default:"256" unit:"requests" min:"1" max:"100000" help:"fills from the origin in flight at once"`

	Drain      time.Duration `env:"WAYPOST_DRAIN" default:"1s" min:"0s" max:"5m" help:"for how long connections are still accepted after SIGTERM, with /readyz at 503"`
	StateDir   string        `env:"WAYPOST_STATE_DIR" help:"folder in which positions and clicks survive a restart; without it every restart begins with a cold L2, and clicks that no origin has taken yet are lost with the process"`
	AuditEvery int           `env:"WAYPOST_AUDIT_EVERY" default:"1000" unit:"answers" min:"0" max:"1000000000" help:"one in so many answers is checked against the origin's history afterwards; 0: none"`

	LogLevel string `env:"WAYPOST_LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"lowest level that is logged"`
}

// Check finds faults between settings.
func (c *config) Check() (faults []settings.Fault) {
	if !regexp.MustCompile(`^[A-Za-z0-9-]{1,32}$`).MatchString(c.Region) {
		faults = append(faults, settings.Fault{Name: "WAYPOST_REGION", Problem: "is not 1 to 32 letters, digits and -"})
	}
	if c.LimitMode != "off" && float64(c.LimitBurst) > c.LimitRate*(24*time.Hour).Seconds() {
		faults = append(faults, settings.Fault{Name: "WAYPOST_LIMIT_BURST", Problem: "takes more than a day to refill at WAYPOST_LIMIT_RATE"})
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		faults = append(faults, settings.Fault{Name: "WAYPOST_TLS_CERT", Problem: "goes with WAYPOST_TLS_KEY: set both or none"})
	}
	if c.CountryHeader != "" && !regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`).MatchString(c.CountryHeader) {
		faults = append(faults, settings.Fault{Name: "WAYPOST_COUNTRY_HEADER", Problem: "is not the name of a header"})
	}
	if c.CountryHeader != "" && len(c.TrustedProxies) == 0 {
		faults = append(faults, settings.Fault{Name: "WAYPOST_COUNTRY_HEADER", Problem: "is believed of nobody without WAYPOST_TRUSTED_PROXIES"})
	}
	return faults
}

// name is the edge's id, made of host name and port where none is set.
func (c *config) name() string {
	if c.EdgeID != "" {
		return c.EdgeID
	}
	host, err := os.Hostname()
	if err != nil {
		host = "edge"
	}
	_, port, _ := net.SplitHostPort(c.Listen)
	return host + ":" + cmp.Or(port, "0")
}
