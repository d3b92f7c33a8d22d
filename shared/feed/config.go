package feed

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"waypost/shared/link"
)

// Config is everything on the config shard at one position. Edges hold it
// whole: fetched from one snapshot, then kept by the feed. A Config is
// immutable; With makes the next one at a cost that hardly grows with the rows.
type Config struct {
	Epoch, Seq uint64

	rows    paged[string, string] // row name → JSON value
	domains map[string]*Domain    // by host
	blocks  *Blocks               // nil: none
}

// configJSON is a config on the wire and on disk.
type configJSON struct {
	Epoch uint64            `json:"epoch"`
	Seq   uint64            `json:"seq"`
	Rows  map[string]string `json:"rows"`
}

// NewConfig makes a config of the rows that there are at a position. It keeps
// none of its arguments.
func NewConfig(epoch, seq uint64, rows map[string]string) *Config {
	cfg := &Config{Epoch: epoch, Seq: seq, domains: make(map[string]*Domain)}
	var blocks paged[link.Site, blockBits]
	for name, value := range rows {
		cfg.rows.put(rowHash(name), name, value)
		if host, ok := strings.CutPrefix(name, domainPrefix); ok {
			setDomain(cfg.domains, host, value)
		} else if source, host, ok := cutBlockRow(name); ok {
			site, bits := siteOf(host), parseBlock(host, value).bits(source)
			before, _ := blocks.value(siteHash(site), site)
			blocks.put(siteHash(site), site, before|bits)
		}
	}
	cfg.blocks = newBlocks(epoch, seq, blocks)
	return cfg
}

// ParseConfig reads a config as JSON, as the internal listener answers it. The
// error is ErrFormat.
func ParseConfig(b []byte) (*Config, error) {
	var read configJSON
	if err := json.Unmarshal(b, &read); err != nil || read.Epoch == 0 {
		return nil, ErrFormat
	}
	return NewConfig(read.Epoch, read.Seq, read.Rows), nil
}

// Append appends what ParseConfig reads: JSON at most about twice as long as all
// names and values, because nothing is escaped in it but what JSON itself asks for.
func (cfg *Config) Append(dst []byte) []byte {
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false) // URLs are full of &
	// Strings and numbers always can be encoded.
	_ = enc.Encode(configJSON{Epoch: cfg.Epoch, Seq: cfg.Seq, Rows: maps.Collect(cfg.rows.all())})
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// With is the config after a change that is its next position: the change's
// row is replaced, or removed if its value is empty.
func (cfg *Config) With(c *Change) *Config {
	next := *cfg
	next.Seq = c.Seq
	if c.Kind == Purge || c.Kind == PurgeAll {
		return &next
	}
	name := c.Key.Code
	if c.Value == "" {
		next.rows = cfg.rows.without(rowHash(name), name)
	} else {
		next.rows = cfg.rows.with(rowHash(name), name, c.Value)
	}
	if host, ok := strings.CutPrefix(name, domainPrefix); ok {
		if next.domains = maps.Clone(cfg.domains); next.domains == nil {
			next.domains = make(map[string]*Domain)
		}
		setDomain(next.domains, host, c.Value)
	} else if source, host, ok := cutBlockRow(name); ok {
		next.blocks = cfg.blocks.with(cfg.Epoch, c.Seq, host, source, parseBlock(host, c.Value))
	}
	return &next
}

// Len is the number of rows.
func (cfg *Config) Len() int { return cfg.rows.n }

func rowHash(name string) uint64 { return link.HashBytes([]byte(name)) }

// bytes is what ParseConfig reads; "" for none.
func (cfg *Config) bytes() string {
	if cfg == nil {
		return ""
	}
	return string(cfg.Append(nil))
}
