package feed

import (
	"encoding/json"
	"maps"
	"strings"
)

// Config is everything on the config shard at one position. Edges hold it
// whole: fetched from one snapshot, then kept by the feed. A Config is
// immutable; With makes the next one.
type Config struct {
	Epoch uint64            `json:"epoch"`
	Seq   uint64            `json:"seq"`
	Rows  map[string]string `json:"rows"` // row name → JSON value

	domains map[string]Domain // by host
}

// DomainRow names the row of a registered domain on the config shard.
func DomainRow(host string) string { return domainPrefix + host }

const domainPrefix = "domain/"

// Domain is the value of a domain's row.
type Domain struct {
	Host string `json:"host"` // lower case, ASCII, no port
}

// ParseConfig reads a config as JSON, as the internal listener answers it. The
// error is ErrFormat.
func ParseConfig(b []byte) (*Config, error) {
	var cfg Config
	if err := json.Unmarshal(b, &cfg); err != nil || cfg.Epoch == 0 {
		return nil, ErrFormat
	}
	cfg.domains = domains(cfg.Rows)
	return &cfg, nil
}

// With is the config after a change that is its next position: the change's
// row is replaced, or removed if its value is empty.
func (cfg *Config) With(c *Change) *Config {
	next := &Config{Epoch: cfg.Epoch, Seq: c.Seq, Rows: maps.Clone(cfg.Rows)}
	if next.Rows == nil {
		next.Rows = make(map[string]string)
	}
	switch {
	case c.Kind == Purge || c.Kind == PurgeAll:
	case c.Value == "":
		delete(next.Rows, c.Key.Code)
	default:
		next.Rows[c.Key.Code] = c.Value
	}
	next.domains = domains(next.Rows)
	return next
}

// Domain finds a registered domain by its host, in lower case and without port.
// It does not allocate.
func (cfg *Config) Domain(host []byte) (d Domain, ok bool) {
	d, ok = cfg.domains[string(host)]
	return d, ok
}

// domains reads the domains' rows. One that this version cannot read is as if
// it were not registered, which the default domain answers for.
func domains(rows map[string]string) map[string]Domain {
	found := make(map[string]Domain)
	for name, value := range rows {
		host, ok := strings.CutPrefix(name, domainPrefix)
		if !ok {
			continue
		}
		d := Domain{}
		if err := json.Unmarshal([]byte(value), &d); err == nil && d.Host == host {
			found[host] = d
		}
	}
	return found
}

// bytes is what ParseConfig reads; "" for none.
func (cfg *Config) bytes() string {
	if cfg == nil {
		return ""
	}
	b, err := json.Marshal(cfg)
	if err != nil {
		return "" // strings and numbers always can be marshalled
	}
	return string(b)
}
