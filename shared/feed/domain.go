package feed

import "encoding/json"

const domainPrefix = "domain/"

// DomainRow names the row of a registered domain on the config shard; the
// default domain's host is "".
func DomainRow(host string) string { return domainPrefix + host }

// Domain is the value of a domain's row. Empty fields are not set.
type Domain struct {
	Host string `json:"host"` // lower case, ASCII, no port; "" is the default domain

	// Where visitors are sent who ask for "/", for a code that leads nowhere, and
	// for a link that has ended and says nothing about that itself. Stored as
	// targets are.
	HomeURL     string `json:"home_url,omitempty"`
	NotFoundURL string `json:"not_found_url,omitempty"`
	ExpiredURL  string `json:"expired_url,omitempty"`

	// What links get that are made on the domain and leave it out, in the words of
	// the API. Edges have no use for them.
	Status int    `json:"status,omitempty"`
	Query  string `json:"query,omitempty"`
	Suffix string `json:"suffix,omitempty"`
	Class  string `json:"class,omitempty"`
	Clicks string `json:"clicks,omitempty"`
}

// ParseDomain reads the value of a host's row. ok is false for one that this
// version cannot read, or that is another host's.
func ParseDomain(host, value string) (d *Domain, ok bool) {
	d = &Domain{}
	if err := json.Unmarshal([]byte(value), d); err != nil || d.Host != host {
		return nil, false
	}
	return d, true
}

// setDomain gives a host its row's value. One that cannot be read is as if it
// were not registered, which the default domain answers for.
func setDomain(domains map[string]*Domain, host, value string) {
	delete(domains, host)
	if d, ok := ParseDomain(host, value); ok {
		domains[host] = d
	}
}

// Domain finds a registered domain by its host, in lower case and without port;
// nil if there is none. It does not allocate.
func (cfg *Config) Domain(host []byte) *Domain { return cfg.domains[string(host)] }
