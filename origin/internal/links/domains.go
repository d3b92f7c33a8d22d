package links

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// MaxDomains is how many domains there may be: edges hold them all in memory.
const MaxDomains = 10_000

// The errors of writes of domains.
var (
	ErrDomainTaken   = errors.New("domain is registered already")
	ErrDefaultDomain = errors.New("the default domain cannot be deleted")
)

// Domain is a registered domain, or the default one, which is always there.
type Domain struct {
	Host string // as link.ParseDomain returns it; "" is the default domain

	HomeURL     string // where "/" leads; "" as edges are set
	NotFoundURL string // where codes lead that are no link's; "" nowhere
	ExpiredURL  string // where ended links lead that have none of their own; "" nowhere

	Defaults Defaults
	Version  Version // Seq 0: nothing was ever set
}

// Defaults are what links of a domain get where nothing else is said.
type Defaults struct {
	Status int
	Query  link.Query
	Suffix link.Suffix
	Class  link.Class
	Clicks bool
}

// defaultsOf are those of a domain, nil for what holds where it says nothing.
func defaultsOf(d *feed.Domain) Defaults {
	def := Defaults{Status: 302, Clicks: true}
	if d == nil {
		return def
	}
	if link.ValidStatus(d.Status) {
		def.Status = d.Status
	}
	def.Query, _ = link.ParseQuery(d.Query)
	def.Suffix, _ = link.ParseSuffix(d.Suffix)
	def.Class, _ = link.ParseClass(d.Class)
	def.Clicks = d.Clicks != "off"
	return def
}

// domainOf reads a row. One that cannot be read has nothing set but its host.
func domainOf(r *ConfigRow) Domain {
	host := r.Name[len(feed.DomainRow("")):]
	d, ok := feed.ParseDomain(host, r.Value)
	if !ok {
		d = &feed.Domain{Host: host}
	}
	return Domain{
		Host: host, HomeURL: d.HomeURL, NotFoundURL: d.NotFoundURL, ExpiredURL: d.ExpiredURL,
		Defaults: defaultsOf(d), Version: r.version(),
	}
}

// WrittenDomain is a domain as a write left it.
type WrittenDomain struct {
	Domain  Domain
	Receipt Receipt
}

// CreateDomain registers a domain. Errors: *link.InvalidError, ErrDomainTaken,
// ErrFull, link.ErrUnavailable.
func (s *Service) CreateDomain(ctx context.Context, in *DomainInput, ack Ack) (WrittenDomain, error) {
	h, err := s.hosts(ctx)
	if err != nil {
		return WrittenDomain{}, err
	}
	d, err := in.domain(h, s.publicHost)
	if err != nil {
		return WrittenDomain{}, err
	}
	return s.writeDomain(ctx, d.Host, ack, func(old *ConfigRow) (*feed.Domain, error) {
		if old != nil {
			return nil, ErrDomainTaken
		}
		return d, nil
	})
}

// RegisterDomain makes a domain known, a host as link.ParseDomain returns it, and
// leaves one that is known as it is, of which nothing is claimed: an origin that
// starts need not wait for what edges have heard long ago. It may be repeated.
// Errors: ErrFull, link.ErrUnavailable.
func (s *Service) RegisterDomain(ctx context.Context, host string, ack Ack) (Receipt, error) {
	if _, known, err := s.row(ctx, feed.DomainRow(host)); err != nil || known {
		return Receipt{Ack: AckCommit}, err
	}
	written, err := s.writeDomain(ctx, host, ack, func(old *ConfigRow) (*feed.Domain, error) {
		if old != nil {
			return nil, nil //nolint:nilnil // nothing is to be changed, as writeDomain has it
		}
		return &feed.Domain{Host: host}, nil
	})
	return written.Receipt, err
}

// PatchDomain changes what the input has of a domain. match is as in Patch.
//
// Errors: *link.InvalidError, ErrDomain, link.ErrMismatch, ErrFull,
// link.ErrUnavailable.
func (s *Service) PatchDomain(ctx context.Context, host string, in *DomainInput, match []Version, ack Ack) (WrittenDomain, error) {
	h, err := s.hosts(ctx)
	if err != nil {
		return WrittenDomain{}, err
	}
	r := rules{targets: h.targets}
	f := in.fixed()
	f = append(f, in.apply(new(feed.Domain), r)...)
	if err := f.err(); err != nil {
		return WrittenDomain{}, err
	}
	return s.writeDomain(ctx, host, ack, func(old *ConfigRow) (*feed.Domain, error) {
		if err := changeableRow(old, host, match); err != nil {
			return nil, err
		}
		d := &feed.Domain{Host: host}
		if old != nil {
			if before, ok := feed.ParseDomain(host, old.Value); ok {
				d = before
			}
		}
		return d, in.apply(d, r).err()
	})
}

// DeleteDomain unregisters a domain that has no links. Its deleted links stay
// what they are, in case it comes back. match is as in Patch.
//
// Errors: ErrDomain, ErrInUse, ErrDefaultDomain, link.ErrMismatch,
// link.ErrUnavailable.
func (s *Service) DeleteDomain(ctx context.Context, host string, match []Version, ack Ack) (Receipt, error) {
	if host == "" {
		return Receipt{}, ErrDefaultDomain
	}
	_, receipt, err := s.writeRow(ctx, ConfigMutation{
		Row: feed.DomainRow(host),
		Merge: func(old *ConfigRow, _ time.Time) (string, error) {
			return "", changeableRow(old, host, match)
		},
	}, ack)
	return receipt, err
}

// changeableRow says whether there is a domain to change, in one of the versions
// asked for. The default domain is there without a row.
func changeableRow(old *ConfigRow, host string, match []Version) error {
	if old == nil && host != "" {
		return ErrDomain
	}
	if match == nil {
		return nil
	}
	var has Version
	if old != nil {
		has = old.version()
	}
	if !slices.ContainsFunc(match, func(v Version) bool { return v == has || old == nil && v.Seq == 0 }) {
		return link.ErrMismatch
	}
	return nil
}

// writeDomain writes what merge makes of a domain's row; nil leaves it as it is.
func (s *Service) writeDomain(ctx context.Context, host string, ack Ack, merge func(old *ConfigRow) (*feed.Domain, error)) (WrittenDomain, error) {
	row, receipt, err := s.writeRow(ctx, ConfigMutation{
		Row: feed.DomainRow(host), Most: MaxDomains,
		Merge: func(old *ConfigRow, _ time.Time) (string, error) {
			d, err := merge(old)
			switch {
			case err != nil:
				return "", err
			case d == nil:
				return old.Value, nil
			case old == nil && *d == (feed.Domain{}):
				return "", nil // the default domain, of which nothing was set, nor is now
			}
			value, err := encode(d)
			if err != nil {
				return "", fmt.Errorf("domain %s: %w", host, err)
			}
			return string(value), nil
		},
	}, ack)
	if err != nil {
		return WrittenDomain{}, err
	}
	if row.Value == "" {
		unset, err := s.unsetDefault(ctx)
		return WrittenDomain{Domain: unset, Receipt: receipt}, err
	}
	return WrittenDomain{Domain: domainOf(&row), Receipt: receipt}, nil
}

// Domain returns a domain; "" is the default one. Errors: ErrDomain,
// link.ErrUnavailable.
func (s *Service) Domain(ctx context.Context, host string) (Domain, error) {
	row, ok, err := s.row(ctx, feed.DomainRow(host))
	switch {
	case err != nil:
		return Domain{}, err
	case ok:
		return domainOf(&row), nil
	case host == "":
		return s.unsetDefault(ctx)
	}
	return Domain{}, ErrDomain
}

// unsetDefault is the default domain while nothing is set of it.
func (s *Service) unsetDefault(ctx context.Context) (Domain, error) {
	cfg, err := s.config.Config(ctx)
	if err != nil {
		return Domain{}, err
	}
	return Domain{Defaults: defaultsOf(nil), Version: Version{Epoch: cfg.Epoch}}, nil
}

// Domains lists up to limit domains in the order of their hosts, the default one
// first, after a place; the zero Place starts. next is where another page begins;
// the zero Place if there is none. Error: link.ErrUnavailable.
func (s *Service) Domains(ctx context.Context, after Place, limit int) (found []Domain, next Place, err error) {
	if !after.Started {
		d, err := s.Domain(ctx, "")
		if err != nil {
			return nil, Place{}, err
		}
		found = append(found, d)
	}
	rows, err := s.config.ConfigRows(ctx, feed.DomainRow(""), feed.DomainRow(after.Name), limit+1-len(found))
	if err != nil {
		return nil, Place{}, err
	}
	for i := range rows {
		found = append(found, domainOf(&rows[i]))
	}
	if len(found) > limit {
		found = found[:limit]
		next = Place{Started: true, Name: found[limit-1].Host}
	}
	return found, next, nil
}
