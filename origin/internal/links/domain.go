package links

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// ErrDomain says why there is no link: its domain is none of ours. It is a
// link.ErrNotFound.
var ErrDomain = fmt.Errorf("domain is not registered: %w", link.ErrNotFound)

// hosts are the domains registered at the moment of a call. They are read for
// each write and not kept: a domain must be usable on every origin as soon as
// one of them has registered it.
type hosts struct {
	registered map[string]bool
	targets    link.TargetRules
}

func (s *Service) hosts(ctx context.Context) (hosts, error) {
	cfg, err := s.config.Config(ctx)
	if err != nil {
		return hosts{}, err
	}
	h := hosts{
		registered: make(map[string]bool),
		targets:    link.TargetRules{Schemes: s.schemes, OwnHosts: []string{s.publicHost}},
	}
	for row := range cfg.Rows {
		if host, ok := strings.CutPrefix(row, feed.DomainRow("")); ok {
			h.registered[host] = true
			h.targets.OwnHosts = append(h.targets.OwnHosts, host)
		}
	}
	return h, nil
}

// RegisterDomain makes a domain known, a host as link.ParseDomain returns it, so
// that it may carry links and edges answer for it. It may be repeated. The error
// is link.ErrUnavailable.
func (s *Service) RegisterDomain(ctx context.Context, host string, ack Ack) (Receipt, error) {
	value, err := json.Marshal(feed.Domain{Host: host})
	if err != nil {
		return Receipt{}, fmt.Errorf("domain %s: %w", host, err)
	}
	sp := s.spread(ack)
	change, err := s.config.WriteConfig(ctx, feed.DomainRow(host), string(value))
	if err != nil {
		return Receipt{}, err
	}
	sp.publish([]*feed.Change{change})
	return sp.receipt(ctx), nil
}

// parseDomain returns the domain that a new link is put on; "" is the default.
func (h hosts) parseDomain(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	domain, err := link.ParseDomain(s)
	if err != nil {
		return "", err
	}
	return domain, unless(h.registered[domain], "is not a registered domain")
}

// missing says more of a link.ErrNotFound about the key, where there is more to
// say: ErrDomain. Other errors it returns as they are.
func (s *Service) missing(ctx context.Context, key link.Key, err error) error {
	if key.Domain == "" || !errors.Is(err, link.ErrNotFound) {
		return err
	}
	h, failed := s.hosts(ctx)
	switch {
	case failed != nil:
		return failed
	case !h.registered[key.Domain]:
		return ErrDomain
	}
	return err
}

// ParseKey returns the key that a caller means by a code and a domain as it
// wrote them. What cannot be a key of any link is link.ErrNotFound, or ErrDomain.
func ParseKey(domain, code string) (link.Key, error) {
	var key link.Key
	var err error
	if domain != "" {
		if key.Domain, err = link.ParseDomain(domain); err != nil {
			return link.Key{}, ErrDomain
		}
	}
	if key.Code, err = link.ParseAlias(code); err != nil {
		return link.Key{}, link.ErrNotFound
	}
	return key, nil
}
