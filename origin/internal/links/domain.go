package links

import (
	"context"
	"errors"
	"fmt"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// ErrDomain says why there is no link: its domain is none of ours. It is a
// link.ErrNotFound.
var ErrDomain = fmt.Errorf("domain is not registered: %w", link.ErrNotFound)

// hosts are what is on the config shard at the moment of a call. They are asked
// for with each write: a domain must be usable on every origin, and a block hold,
// as soon as one of them has it.
type hosts struct {
	config  *feed.Config
	targets targets
	under   Position // of the config, where it may be an older one; else zero
}

func (s *Service) hosts(ctx context.Context) (hosts, error) {
	cfg, err := s.config.Config(ctx)
	if err != nil {
		return hosts{}, err
	}
	return s.hostsOf(cfg), nil
}

// knownHosts are those of the config as it was when it was last asked for. What
// is written under them is written only if they are those of now.
func (s *Service) knownHosts() (h hosts, known bool) {
	if s.known == nil {
		return hosts{}, false
	}
	cfg := s.known.KnownConfig()
	if cfg == nil {
		return hosts{}, false
	}
	h = s.hostsOf(cfg)
	h.under = Position{Epoch: cfg.Epoch, Shard: feed.ConfigShard, Seq: cfg.Seq}
	return h, true
}

func (s *Service) hostsOf(cfg *feed.Config) hosts {
	rules := link.TargetRules{Schemes: s.schemes, OwnHosts: []string{s.publicHost}}
	return hosts{config: cfg, targets: targets{TargetRules: rules, config: cfg}}
}

// domain is what is set for a domain; nil if it is not registered.
func (h hosts) domain(host string) *feed.Domain { return h.config.Domain([]byte(host)) }

// parseDomain returns the domain that a new link is put on; "" is the default.
func (h hosts) parseDomain(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	domain, err := link.ParseDomain(s)
	if err != nil {
		return "", err
	}
	return domain, unless(h.domain(domain) != nil, "is not a registered domain")
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
	case h.domain(key.Domain) == nil:
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
