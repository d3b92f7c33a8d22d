package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// LinkPath names a link.
type LinkPath struct {
	Code   string `path:"code" doc:"The link's code, percent-encoded" example:"spring-sale"`
	Domain string `query:"domain" doc:"The link's domain; the default domain if left out, and _default"`
}

func (p LinkPath) key() (link.Key, error) {
	key, err := links.ParseKey(domainHost(p.Domain), p.Code)
	return key, p.named(err)
}

// named says what it was that is not there. Other errors it returns as they are.
func (p LinkPath) named(err error) error {
	code, domain := shorten(p.Code), shorten(domainHost(p.Domain))
	detail := fmt.Sprintf("there is no link %q that this key may see", code)
	switch {
	case !errors.Is(err, link.ErrNotFound):
		return err
	case errors.Is(err, links.ErrDomain):
		detail = fmt.Sprintf("there is no domain %q: it is not registered", domain)
	case domain != "":
		detail = fmt.Sprintf("there is no link %q on %s that this key may see", code, domain)
	}
	return newProblem(http.StatusNotFound, detail)
}

type createRequest struct {
	Ack
	Idempotency
	QRData
	RawBody []byte
}

// createAnswer, like each answer below, has the headers that its operation
// sends: the document lists them.
type createAnswer struct {
	Status      int
	Location    string `header:"Location" doc:"Where the API answers for the link"`
	ETag        string `header:"ETag" doc:"The link's version, for If-Match and If-None-Match"`
	Propagation string `header:"Waypost-Propagation" doc:"How far the write got"`
	Replayed    string `header:"Idempotency-Replayed" enum:"true" doc:"The call was carried out before, and this is its answer"`
	Body        Link
}

func (a *API) createLink(ctx context.Context, in *createRequest) (*createAnswer, error) {
	call, err := in.call(ctx, a, in.RawBody, 1)
	if err != nil {
		return nil, err
	}
	if _, err := a.spend(ctx, call.freshOf(1)); err != nil {
		return nil, err
	}
	input, err := readInput(in.RawBody)
	if err != nil {
		return nil, err
	}
	input.Once = call.item(0)
	written, err := a.links.Create(ctx, callerOf(ctx), input, in.ack())
	if err != nil {
		return nil, err
	}
	shown := a.show(&written.Link)
	if err := in.addTo(ctx, a, &shown); err != nil {
		return nil, err
	}
	return &createAnswer{
		Status: created(written.Reused), Location: location(written.Link.Key), ETag: etag(&written.Link),
		Propagation: propagation(written.Receipt), Replayed: replayed(written.Replayed), Body: shown,
	}, nil
}

func created(reused bool) int {
	if reused {
		return http.StatusOK
	}
	return http.StatusCreated
}

type getRequest struct {
	LinkPath
	IfNoneMatch string `header:"If-None-Match" doc:"An ETag: 304 if the link is still in that version"`
}

type getAnswer struct {
	Status int
	ETag   string `header:"ETag" doc:"The link's version, for If-Match and If-None-Match"`
	Body   Link
}

func (a *API) getLink(ctx context.Context, in *getRequest) (*getAnswer, error) {
	key, err := in.key()
	if err != nil {
		return nil, err
	}
	l, err := a.links.Get(ctx, callerOf(ctx), key)
	if err != nil {
		return nil, in.named(err)
	}
	out := &getAnswer{Status: http.StatusOK, ETag: etag(&l), Body: a.show(&l)}
	if ifNoneMatch(in.IfNoneMatch, out.ETag) {
		out.Status = http.StatusNotModified
	}
	return out, nil
}

// IfMatch is the condition of a change.
type IfMatch struct {
	IfMatch string `header:"If-Match" doc:"An ETag: 412 unless it is in that version"`
}

type patchRequest struct {
	LinkPath
	Ack
	IfMatch
	RawBody []byte
}

type patchAnswer struct {
	ETag        string `header:"ETag" doc:"The link's new version"`
	Propagation string `header:"Waypost-Propagation" doc:"How far the write got"`
	Body        Link
}

func (a *API) patchLink(ctx context.Context, in *patchRequest) (*patchAnswer, error) {
	key, err := in.key()
	if err != nil {
		return nil, err
	}
	input, err := readInput(in.RawBody)
	if err != nil {
		return nil, err
	}
	written, err := a.links.Patch(ctx, callerOf(ctx), key, input, ifMatch(in.IfMatch.IfMatch), in.ack())
	if err != nil {
		return nil, in.named(err)
	}
	return &patchAnswer{ETag: etag(&written.Link), Propagation: propagation(written.Receipt), Body: a.show(&written.Link)}, nil
}

type deleteRequest struct {
	LinkPath
	Ack
	IfMatch
}

type deleteAnswer struct {
	Propagation string `header:"Waypost-Propagation" doc:"How far the write got"`
}

func (a *API) deleteLink(ctx context.Context, in *deleteRequest) (*deleteAnswer, error) {
	key, err := in.key()
	if err != nil {
		return nil, err
	}
	receipt, err := a.links.Delete(ctx, callerOf(ctx), key, ifMatch(in.IfMatch.IfMatch), in.ack())
	if err != nil {
		return nil, in.named(err)
	}
	return &deleteAnswer{Propagation: propagation(receipt)}, nil
}
