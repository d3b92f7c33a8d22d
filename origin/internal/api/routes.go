package api

import (
	"net/http"
	"reflect"

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

	a.statistics()

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

// statistics registers what there is to know about clicks.
func (a *API) statistics() {
	route(a, operation{
		method: http.MethodGet, path: "/links/{code}/stats", id: "linkStats", scope: links.ScopeStatsRead,
		summary: "Show the statistics of a link", status: http.StatusOK,
		note: "A click counts within 2 seconds. The range is widened to whole hours, and to whole days where hours are not kept any more. " +
			"Those of a deleted link can be asked for until they are dropped or its code is taken again, by a link that starts at zero.",
	}, a.stats)
	route(a, operation{
		method: http.MethodGet, path: "/links/{code}/clicks", id: "linkClicks", scope: links.ScopeStatsRead,
		summary: "Show the newest clicks of a link", status: http.StatusOK,
	}, a.recentClicks)
	route(a, operation{
		method: http.MethodDelete, path: "/links/{code}/clicks", id: "eraseClicks", scope: links.ScopeAdmin,
		summary: "Erase the clicks of a link", status: http.StatusNoContent,
		note: "Nothing stays of what was counted. Clicks that edges have not sent yet are counted when they come.",
	}, a.eraseClicks)
	route(a, operation{
		method: http.MethodGet, path: "/links/{code}/live", id: "liveClicks", scope: links.ScopeStatsRead,
		summary: "Watch the clicks of a link", status: http.StatusOK,
		events: []reflect.Type{reflect.TypeFor[LiveClicks](), reflect.TypeFor[Click]()},
		note: "A stream of server-sent events: `clicks` every second with what was counted in it, and `click` for up to 20 of the newest " +
			"clicks in it, oldest first. Nothing is sent again. The stream ends when the link is deleted, the key is revoked or the origin " +
			"stops; a client that reads too slowly is dropped. An origin has 100 of them at most, and answers 429 beyond that.",
	}, a.liveView)
	route(a, operation{
		method: http.MethodGet, path: "/stats/top", id: "topLinks", scope: links.ScopeStatsRead,
		summary: "List the links with the most clicks on a day", status: http.StatusOK,
		note: "A confined key sees its owner's links.",
	}, a.topLinks)
	route(a, operation{
		method: http.MethodGet, path: "/stats/orphans", id: "orphans", scope: links.ScopeStatsRead,
		summary: "Count requests for codes that do not exist", status: http.StatusOK,
		note: "By hour and region, so that a broken campaign is seen; which codes they were is not kept. Not for confined keys.",
	}, a.orphans)
}

// pages registers what is there to read.
func (a *API) pages(document []byte, docs http.Handler) {
	a.page("GET "+prefix+"/openapi.json", static(mediaJSON, document))
	a.page("GET /docs", docs)
	a.page("GET /docs/{$}", http.RedirectHandler("/docs", http.StatusPermanentRedirect))
	a.page("GET /{$}", http.RedirectHandler("/docs", http.StatusSeeOther))
}
