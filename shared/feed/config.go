package feed

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Config is everything on the config shard at one position. Edges hold it
// whole: fetched from one snapshot, then kept by the feed. A Config is
// immutable; With makes the next one.
type Config struct {
	Epoch uint64            `json:"epoch"`
	Seq   uint64            `json:"seq"`
	Rows  map[string]string `json:"rows"` // row name → JSON value
}

// DomainRow names the row of a registered domain on the config shard.
func DomainRow(host string) string { return domainPrefix + host }

const domainPrefix = "domain/"

// Domain is the value of a domain's row.
type Domain struct {
	Host string `json:"host"`
}

// With is the config after c, which must be the next position: the change's
// row is replaced, or removed if its value is empty.
func (cfg *Config) With(c *Change) *Config {
	next := &Config{Epoch: cfg.Epoch, Seq: c.Seq, Rows: make(map[string]string, len(cfg.Rows)+1)}
	for name, value := range cfg.Rows {
		next.Rows[name] = value
	}
	switch {
	case c.Kind == Purge || c.Kind == PurgeAll:
	case c.Value == "":
		delete(next.Rows, c.Key.Code)
	default:
		next.Rows[c.Key.Code] = c.Value
	}
	return next
}

// Domains lists the registered domains by host.
func (cfg *Config) Domains() (map[string]Domain, error) {
	domains := make(map[string]Domain)
	for name, value := range cfg.Rows {
		host, ok := strings.CutPrefix(name, domainPrefix)
		if !ok {
			continue
		}
		var d Domain
		if err := json.Unmarshal([]byte(value), &d); err != nil {
			return nil, fmt.Errorf("config row %s: %w", name, err)
		}
		domains[host] = d
	}
	return domains, nil
}
