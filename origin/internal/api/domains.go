package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

type createDomainRequest struct {
	Ack
	RawBody []byte
}

type createDomainAnswer struct {
	Location    string `header:"Location" doc:"Where the API answers for the domain"`
	ETag        string `header:"ETag" doc:"The domain's version, for If-Match and If-None-Match"`
	Propagation string `header:"Waypost-Propagation" doc:"How far the write got"`
	Body        Domain
}

func (a *API) createDomain(ctx context.Context, in *createDomainRequest) (*createDomainAnswer, error) {
	input, err := readDomain(in.RawBody)
	if err != nil {
		return nil, err
	}
	written, err := a.links.CreateDomain(ctx, input, in.ack())
	if err != nil {
		return nil, err
	}
	d := &written.Domain
	return &createDomainAnswer{
		Location: (&url.URL{Path: prefix + "/domains/" + domainName(d.Host)}).String(),
		ETag:     versionTag(d.Version), Propagation: propagation(written.Receipt), Body: showDomain(d),
	}, nil
}

// DomainPath names a domain.
type DomainPath struct {
	Host string `path:"host" doc:"The domain's host; _default for the default domain" example:"go.example.com"`
}

func (p DomainPath) host() (string, error) {
	if domainHost(p.Host) == "" {
		return "", nil
	}
	host, err := link.ParseDomain(p.Host)
	if err != nil {
		return "", p.named(links.ErrDomain)
	}
	return host, nil
}

// named says what it was that is not there. Other errors it returns as they are.
func (p DomainPath) named(err error) error {
	if errors.Is(err, links.ErrDomain) {
		return newProblem(http.StatusNotFound, fmt.Sprintf("there is no domain %q: it is not registered", shorten(p.Host)))
	}
	return err
}

type getDomainRequest struct {
	DomainPath
	IfNoneMatch string `header:"If-None-Match" doc:"An ETag: 304 if the domain is still in that version"`
}

type getDomainAnswer struct {
	Status int
	ETag   string `header:"ETag" doc:"The domain's version, for If-Match and If-None-Match"`
	Body   Domain
}

func (a *API) getDomain(ctx context.Context, in *getDomainRequest) (*getDomainAnswer, error) {
	host, err := in.host()
	if err != nil {
		return nil, err
	}
	d, err := a.links.Domain(ctx, host)
	if err != nil {
		return nil, in.named(err)
	}
	out := &getDomainAnswer{Status: http.StatusOK, ETag: versionTag(d.Version), Body: showDomain(&d)}
	if ifNoneMatch(in.IfNoneMatch, out.ETag) {
		out.Status = http.StatusNotModified
	}
	return out, nil
}

type patchDomainRequest struct {
	DomainPath
	Ack
	IfMatch
	RawBody []byte
}

type patchDomainAnswer struct {
	ETag        string `header:"ETag" doc:"The domain's version now"`
	Propagation string `header:"Waypost-Propagation" doc:"How far the write got"`
	Body        Domain
}

func (a *API) patchDomain(ctx context.Context, in *patchDomainRequest) (*patchDomainAnswer, error) {
	host, err := in.host()
	if err != nil {
		return nil, err
	}
	input, err := readDomain(in.RawBody)
	if err != nil {
		return nil, err
	}
	written, err := a.links.PatchDomain(ctx, host, input, ifMatch(in.IfMatch.IfMatch), in.ack())
	if err != nil {
		return nil, in.named(err)
	}
	return &patchDomainAnswer{
		ETag: versionTag(written.Domain.Version), Propagation: propagation(written.Receipt), Body: showDomain(&written.Domain),
	}, nil
}

type deleteDomainRequest struct {
	DomainPath
	Ack
	IfMatch
}

func (a *API) deleteDomain(ctx context.Context, in *deleteDomainRequest) (*deleteAnswer, error) {
	host, err := in.host()
	if err != nil {
		return nil, err
	}
	receipt, err := a.links.DeleteDomain(ctx, host, ifMatch(in.IfMatch.IfMatch), in.ack())
	if err != nil {
		return nil, in.named(err)
	}
	return &deleteAnswer{Propagation: propagation(receipt)}, nil
}

// Page is what every list by name takes.
type Page struct {
	Limit  int    `query:"limit" default:"10" minimum:"1" maximum:"100" doc:"Most items to answer"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
}

// DomainPage is a page of domains.
type DomainPage struct {
	Items      []Domain `json:"items" nullable:"false" doc:"The domains of this page"`
	NextCursor *string  `json:"next_cursor" nullable:"true" doc:"For the next page; null on the last"`
}

type listDomainsAnswer struct{ Body DomainPage }

func (a *API) listDomains(ctx context.Context, in *Page) (*listDomainsAnswer, error) {
	after, err := in.after()
	if err != nil {
		return nil, err
	}
	found, next, err := a.links.Domains(ctx, after, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &listDomainsAnswer{Body: DomainPage{Items: make([]Domain, len(found)), NextCursor: nextCursor(next)}}
	for i := range found {
		out.Body.Items[i] = showDomain(&found[i])
	}
	return out, nil
}
