package links

import (
	"fmt"
	"strings"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// DomainInput is what a caller wishes a domain to be. Values are as sent.
type DomainInput struct {
	Host        Field[string] // cannot be changed later
	HomeURL     Field[string]
	NotFoundURL Field[string]
	ExpiredURL  Field[string]
	Status      Field[int64]  // this and those below: what links get that leave it out
	Query       Field[string] // names of link.Query
	Suffix      Field[string] // names of link.Suffix
	Class       Field[string] // names of link.Class
	Clicks      Field[string] // on or off
}

// apply writes the input's fields into d and returns every fault. Null takes back
// what was set.
func (in *DomainInput) apply(d *feed.Domain, r rules) faults {
	var f faults
	take(&f, r, "home_url", in.HomeURL, "", r.parseTarget, &d.HomeURL)
	take(&f, r, "not_found_url", in.NotFoundURL, "", r.parseTarget, &d.NotFoundURL)
	take(&f, r, "expired_url", in.ExpiredURL, "", r.parseTarget, &d.ExpiredURL)
	take(&f, r, "status", in.Status, 0, parseStatus, &d.Status)
	take(&f, r, "query", in.Query, "", word(parseQuery), &d.Query)
	take(&f, r, "suffix", in.Suffix, "", word(parseSuffix), &d.Suffix)
	take(&f, r, "class", in.Class, "", word(parseClass), &d.Class)
	take(&f, r, "clicks", in.Clicks, "", onOrOff, &d.Clicks)
	return f
}

// word makes a parser of a policy's name one that returns the name.
func word[T fmt.Stringer](parse func(string) (T, error)) func(string) (string, error) {
	return func(s string) (string, error) {
		v, err := parse(s)
		return v.String(), err
	}
}

func onOrOff(s string) (string, error) {
	_, err := parseClicks(s)
	return s, err
}

// domain is a new one of the input.
func (in *DomainInput) domain(h hosts, publicHost string) (*feed.Domain, error) {
	var f faults
	d := &feed.Domain{}
	switch {
	case !in.Host.given():
		f.add("host", "is required")
	default:
		host, err := link.ParseDomain(*in.Host.Value)
		if err == nil {
			// Whatever its port: visitors' requests are told apart by host alone.
			own, _, _ := strings.Cut(publicHost, ":")
			err = unless(host != own, "is the host of the default domain")
		}
		if err != nil {
			f.add("host", err.Error())
		}
		d.Host = host
	}
	h.targets.also = d.Host
	f = append(f, in.apply(d, rules{targets: h.targets})...)
	return d, f.err()
}

func (in *DomainInput) fixed() faults {
	var f faults
	if in.Host.Set {
		f.add("host", "cannot be changed")
	}
	return f
}
