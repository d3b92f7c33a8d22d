package api

import (
	"context"
	"net/http"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// LinkPath names a link.
type LinkPath struct {
	Code   string `path:"code" doc:"The link's code, percent-encoded"`
	Domain string `query:"domain" doc:"The link's domain; the default domain if left out"`
}

func (p LinkPath) key() (link.Key, error) { return links.ParseKey(p.Domain, p.Code) }

// linkAnswer is a link with its headers.
type linkAnswer struct {
	Status      int
	Location    string `header:"Location" doc:"Of a created or found link"`
	ETag        string `header:"ETag" doc:"The link's version, for If-Match"`
	Propagation string `header:"Waypost-Propagation" doc:"How far a write got"`
	Body        Link
}

func (a *API) answer(status int, l *link.Link) *linkAnswer {
	return &linkAnswer{Status: status, ETag: etag(l), Body: a.show(l)}
}

type createRequest struct {
	Ack
	RawBody []byte
}

func (a *API) createLink(ctx context.Context, in *createRequest) (*linkAnswer, error) {
	input, err := readInput(in.RawBody)
	if err != nil {
		return nil, err
	}
	written, err := a.links.Create(ctx, callerOf(ctx), input, in.ack())
	if err != nil {
		return nil, err
	}
	out := a.answer(created(written.Reused), &written.Link)
	out.Location, out.Propagation = location(written.Link.Key), propagation(written.Receipt)
	return out, nil
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

func (a *API) getLink(ctx context.Context, in *getRequest) (*linkAnswer, error) {
	key, err := in.key()
	if err != nil {
		return nil, err
	}
	l, err := a.links.Get(ctx, callerOf(ctx), key)
	if err != nil {
		return nil, err
	}
	if ifNoneMatch(in.IfNoneMatch, etag(&l)) {
		return a.answer(http.StatusNotModified, &l), nil
	}
	return a.answer(http.StatusOK, &l), nil
}

// IfMatch is the condition of a change.
type IfMatch struct {
	IfMatch string `header:"If-Match" doc:"An ETag: 412 unless the link is in that version"`
}

type patchRequest struct {
	LinkPath
	Ack
	IfMatch
	RawBody []byte
}

func (a *API) patchLink(ctx context.Context, in *patchRequest) (*linkAnswer, error) {
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
		return nil, err
	}
	out := a.answer(http.StatusOK, &written.Link)
	out.Propagation = propagation(written.Receipt)
	return out, nil
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
		return nil, err
	}
	return &deleteAnswer{Propagation: propagation(receipt)}, nil
}
