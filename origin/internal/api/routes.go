package api

import (
	"net/http"

	"waypost/origin/internal/links"
)

// prefix stands before the path of every operation.
const prefix = "/api/v1"

// operations registers what the document describes. An operation is one entry
// here, its request and answer types, and a method.
func (a *API) operations() {
	one := bodyOf[LinkCreate](bodyLimit, mediaJSON)
	many := bodyOf[BulkCreate](bulkLimit, mediaJSON)
	many.turns = make(chan struct{}, maxBulks)
	patch := bodyOf[LinkChange](bodyLimit, mediaJSON, mediaPatch)

	route(a, operation{
		method: http.MethodPost, path: "/links", id: "createLink", scope: links.ScopeLinksWrite,
		summary: "Create a link", status: http.StatusCreated, also: []int{http.StatusOK}, body: one,
	}, a.createLink)
	route(a, operation{
		method: http.MethodGet, path: "/links", id: "listLinks", scope: links.ScopeLinksRead,
		summary: "List links", status: http.StatusOK,
	}, a.listLinks)
	route(a, operation{
		method: http.MethodPost, path: "/links/bulk", id: "createLinks", scope: links.ScopeLinksWrite,
		summary: "Create up to 1,000 links, each of which succeeds or fails alone", status: http.StatusOK, body: many,
	}, a.createLinks)
	route(a, operation{
		method: http.MethodGet, path: "/links/{code}", id: "getLink", scope: links.ScopeLinksRead,
		summary: "Show a link", status: http.StatusOK, also: []int{http.StatusNotModified},
	}, a.getLink)
	route(a, operation{
		method: http.MethodPatch, path: "/links/{code}", id: "changeLink", scope: links.ScopeLinksWrite,
		summary: "Change a link by JSON merge patch", status: http.StatusOK, body: patch,
	}, a.patchLink)
	route(a, operation{
		method: http.MethodDelete, path: "/links/{code}", id: "deleteLink", scope: links.ScopeLinksWrite,
		summary: "Delete a link", status: http.StatusNoContent,
	}, a.deleteLink)

	route(a, operation{
		method: http.MethodPost, path: "/purge", id: "purge", scope: links.ScopeLinksWrite,
		summary: "Make every edge load links anew", status: http.StatusOK, body: bodyOf[Purge](bodyLimit, mediaJSON),
	}, a.purge)

	route(a, operation{
		method: http.MethodPost, path: "/keys", id: "createKey", scope: links.ScopeAdmin,
		summary: "Make an API key", status: http.StatusCreated, body: bodyOf[KeyCreate](bodyLimit, mediaJSON),
	}, a.createKey)
	route(a, operation{
		method: http.MethodGet, path: "/keys", id: "listKeys", scope: links.ScopeAdmin,
		summary: "List API keys", status: http.StatusOK,
	}, a.listKeys)
	route(a, operation{
		method: http.MethodDelete, path: "/keys/{id}", id: "revokeKey", scope: links.ScopeAdmin,
		summary: "Revoke an API key", status: http.StatusNoContent,
	}, a.revokeKey)
}

// pages registers what is there to read.
func (a *API) pages(document []byte, docs http.Handler) {
	a.page("GET "+prefix+"/openapi.json", static(mediaJSON, document))
	a.page("GET /docs", docs)
	a.page("GET /docs/{$}", http.RedirectHandler("/docs", http.StatusPermanentRedirect))
	a.page("GET /{$}", http.RedirectHandler("/docs", http.StatusSeeOther))
}
