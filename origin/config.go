package main

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"waypost/origin/internal/api"
	"waypost/origin/internal/postgres"
	"waypost/shared/link"
	"waypost/shared/settings"
)

// config is everything that can be set from outside, by flag or environment.
type config struct {
	Listen         string `env:"WAYPOST_LISTEN" default:":9000" format:"address" help:"public listener: admin API and /docs"`
	InternalListen string `env:"WAYPOST_INTERNAL_LISTEN" default:"127.0.0.1:9001" format:"address" help:"listener for edges"`
	OpsListen      string `env:"WAYPOST_OPS_LISTEN" default:"127.0.0.1:9100" format:"address" help:"listener of /healthz, /readyz, /metrics and /debug/pprof/"`
	Secret         string `env:"WAYPOST_INTERNAL_SECRET" secret:"true" help:"shared secret of the internal listener; may be left out only where that is on loopback"`

	PublicURL string   `env:"WAYPOST_PUBLIC_URL" default:"http://127.0.0.1:8080" format:"http" help:"where visitors reach links of the default domain: scheme, host and port"`
	Domains   []string `env:"WAYPOST_DOMAINS" help:"domains registered at start, besides those that are"`
	Schemes   []string `env:"WAYPOST_TARGET_SCHEMES" help:"schemes that targets may have besides http and https"`
	BlockFile string   `env:"WAYPOST_BLOCK_FILE" help:"file of hosts that no link may lead to, one a line, with . or *. before it for all hosts below it too; read again when it changes, the same at all origins; to unblock all, let it be empty before it is unset"`

	Database postgres.Config

	RedisURL  string   `env:"WAYPOST_REDIS_URL" default:"redis://127.0.0.1:6379" secret:"true" format:"url" help:"the origins' Redis, redis://127.0.0.1:6379 if left out; a cluster with ?addr=host:port for each further node"`
	RedisKeys string   `env:"WAYPOST_REDIS_PREFIX" default:"wp-origin" help:"beginning of all keys in Redis"`
	NATSURL   []string `env:"WAYPOST_NATS_URL" default:"nats://127.0.0.1:4222" secret:"true" format:"url" help:"NATS servers that carry the changes, nats://127.0.0.1:4222 if left out"`
	Subjects  string   `env:"WAYPOST_NATS_PREFIX" default:"waypost" help:"beginning of all NATS subjects, the same as at the edges"`

	StaleBound   time.Duration `env:"WAYPOST_STALE_BOUND" default:"1s" min:"300ms" max:"1m" help:"how old an unmarked answer of an edge may be, and how long a write waits for edges; kept in PostgreSQL, where the origin that starts last sets it"`
	StampedeWait time.Duration `env:"WAYPOST_STAMPEDE_WAIT" default:"100ms" min:"1ms" max:"1m" help:"for how long a fill waits for the same fill of another origin"`
	MachineID    int           `env:"WAYPOST_MACHINE_ID" default:"-1" min:"-1" max:"1023" help:"machine id of snowflake codes; -1 leases a free one"`

	CreateRate  float64  `env:"WAYPOST_LIMIT_CREATE_RATE" default:"20" unit:"links a second and API key" min:"0.01" max:"10000" help:"how fast a key may create links that has no rate of its own; keys with the scope admin are not limited"`
	CreateBurst int      `env:"WAYPOST_LIMIT_CREATE_BURST" default:"100" unit:"links" min:"1" max:"1000000" help:"how many links a key may create at once that has no burst of its own"`
	CORSOrigins []string `env:"WAYPOST_CORS_ORIGINS" help:"whose pages may call the admin API from a browser: origins such as https://app.example.com, or * for all; left out: none"`

	AdminKeyFile   string         `env:"WAYPOST_ADMIN_KEY_FILE" help:"file of the first admin key: read if it is there, else written, where no key exists yet; without it the key is shown once, on stderr"`
	TrustedProxies []netip.Prefix `env:"WAYPOST_TRUSTED_PROXIES" help:"networks whose X-Forwarded-For is believed"`

	Drain    time.Duration `env:"WAYPOST_DRAIN" default:"1s" min:"0s" max:"5m" help:"for how long connections are still accepted after SIGTERM, with /readyz at 503"`
	LogLevel string        `env:"WAYPOST_LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"lowest level that is logged"`
}

// Check finds faults between settings, and those that a tag cannot say.
func (c *config) Check() (faults []settings.Fault) {
	fault := func(name, problem string) { faults = append(faults, settings.Fault{Name: name, Problem: problem}) }
	if c.Secret == "" && !loopback(c.InternalListen) {
		fault("WAYPOST_INTERNAL_SECRET", "is required, because WAYPOST_INTERNAL_LISTEN is not on loopback")
	}
	if u, err := url.Parse(c.PublicURL); err == nil && (strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil) {
		fault("WAYPOST_PUBLIC_URL", "must have nothing but scheme, host and port")
	}
	for _, origin := range c.CORSOrigins {
		switch err := api.CheckOrigin(origin); {
		case origin == api.AnyOrigin && len(c.CORSOrigins) > 1:
			fault("WAYPOST_CORS_ORIGINS", "* stands for all and must stand alone")
		case origin != api.AnyOrigin && err != nil:
			fault("WAYPOST_CORS_ORIGINS", origin+" "+err.Error())
		}
	}
	for i, domain := range c.Domains {
		parsed, err := link.ParseDomain(domain)
		if err != nil {
			fault("WAYPOST_DOMAINS", domain+" "+err.Error())
			continue
		}
		c.Domains[i] = parsed
	}
	return faults
}

// loopback reports whether an address to listen on can be reached from this
// machine only.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// public is the URL under which links of the default domain are reached.
func (c *config) public() (*url.URL, error) { return url.Parse(c.PublicURL) }

// publicHost is its host in the form that the hosts of targets are compared in.
// A name belongs to the service as a whole; an address, or "localhost", may be
// shared with other services, so there only the service's own port is meant.
func publicHost(u *url.URL) string {
	host, err := link.ParseHost(u.Hostname())
	if err != nil {
		return u.Hostname() // which no target leads to
	}
	if link.IsAddress(host) || host == "localhost" {
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		return host + ":" + port
	}
	return host
}
