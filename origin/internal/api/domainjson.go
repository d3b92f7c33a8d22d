package api

import "waypost/origin/internal/links"

// defaultDomain names the default domain, whose host is empty, in requests: no
// host that can be registered has an underscore.
const defaultDomain = "_default"

// domainHost is the host that a domain's name in a request stands for.
func domainHost(name string) string {
	if name == defaultDomain {
		return ""
	}
	return name
}

// DomainChange is the body of a change of a domain.
type DomainChange struct {
	HomeURL     field[string] `json:"home_url" required:"false" maxLength:"8192" doc:"Where / leads, by 302. Left out: unchanged; null: what the edge is set to" example:"https://example.com/"`
	NotFoundURL field[string] `json:"not_found_url" required:"false" maxLength:"8192" doc:"Where codes lead that are no link's, by 302. Left out: unchanged; null: nowhere, they answer 404" example:"https://example.com/not-found"`
	ExpiredURL  field[string] `json:"expired_url" required:"false" maxLength:"8192" doc:"Where links lead that are expired or used up and have no expired_url of their own, by 302. Left out: unchanged; null: nowhere, they answer 410" example:"https://example.com/over"`
	Status      field[int64]  `json:"status" required:"false" enum:"301,302,307,308" doc:"The status of links that are made without one. Left out: unchanged; null: 302" example:"307"`
	Query       field[string] `json:"query" required:"false" enum:"off,append,request,target" doc:"The query policy of links that are made without one. Left out: unchanged; null: off" example:"append"`
	Suffix      field[string] `json:"suffix" required:"false" enum:"off,append" doc:"The suffix policy of links that are made without one. Left out: unchanged; null: off" example:"off"`
	Class       field[string] `json:"class" required:"false" enum:"available,strict" doc:"The class of links that are made without one. Left out: unchanged; null: available" example:"available"`
	Clicks      field[string] `json:"clicks" required:"false" enum:"on,off" doc:"Whether clicks are counted of links that are made without saying so. Left out: unchanged; null: on" example:"on"`
}

// DomainCreate is the body of a new domain: what is left out is as if null.
type DomainCreate struct {
	DomainChange
	Host field[string] `json:"host" required:"true" nullable:"false" maxLength:"1024" doc:"The host that visitors use, in ASCII or Unicode, without port" example:"go.example.com"`
}

// readDomain reads either body. A change has the same fields, so that the one
// that cannot be changed is refused by name.
func readDomain(raw []byte) (*links.DomainInput, error) {
	var body DomainCreate
	faults, err := decode(raw, &body)
	switch {
	case err != nil:
		return nil, err
	case len(faults) > 0:
		return nil, faulty(faults)
	}
	return &links.DomainInput{
		Host: body.Host.Field, HomeURL: body.HomeURL.Field, NotFoundURL: body.NotFoundURL.Field, ExpiredURL: body.ExpiredURL.Field,
		Status: body.Status.Field, Query: body.Query.Field, Suffix: body.Suffix.Field, Class: body.Class.Field, Clicks: body.Clicks.Field,
	}, nil
}

// Domain is a domain as it is answered.
type Domain struct {
	Host        string  `json:"host" doc:"The host that visitors use, in ASCII; empty: the default domain, which answers for every other host" example:"go.example.com"`
	HomeURL     *string `json:"home_url" nullable:"true" doc:"Where / leads; null: what the edge is set to" example:"https://example.com/"`
	NotFoundURL *string `json:"not_found_url" nullable:"true" doc:"Where codes lead that are no link's; null: nowhere, they answer 404" example:"https://example.com/not-found"`
	ExpiredURL  *string `json:"expired_url" nullable:"true" doc:"Where ended links lead that have no expired_url; null: nowhere, they answer 410" example:"https://example.com/over"`
	Status      int     `json:"status" enum:"301,302,307,308" doc:"The status of links that are made without one" example:"307"`
	Query       string  `json:"query" enum:"off,append,request,target" doc:"The query policy of links that are made without one" example:"append"`
	Suffix      string  `json:"suffix" enum:"off,append" doc:"The suffix policy of links that are made without one" example:"off"`
	Class       string  `json:"class" enum:"available,strict" doc:"The class of links that are made without one" example:"available"`
	Clicks      string  `json:"clicks" enum:"on,off" doc:"Whether clicks are counted of links that are made without saying so" example:"on"`
	Version     uint64  `json:"version" doc:"Grows with every change; 0 while nothing was ever set" example:"17"`
}

func showDomain(d *links.Domain) Domain {
	v := Domain{
		Host: d.Host, HomeURL: shownUnlessZero(d.HomeURL), NotFoundURL: shownUnlessZero(d.NotFoundURL),
		ExpiredURL: shownUnlessZero(d.ExpiredURL), Status: d.Defaults.Status, Query: d.Defaults.Query.String(),
		Suffix: d.Defaults.Suffix.String(), Class: d.Defaults.Class.String(), Clicks: "off", Version: d.Version.Seq,
	}
	if d.Defaults.Clicks {
		v.Clicks = "on"
	}
	return v
}

// domainName is a host as it stands in a path.
func domainName(host string) string {
	if host == "" {
		return defaultDomain
	}
	return host
}
