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
		summary: "Create a link", status: http.StatusCreated, also: []int{http.StatusOK}, body: one, limited: true,
		fails: []int{http.StatusConflict},
		note: "201 with the new link, or 200 with the one that `reuse` found. A taken alias is 409; that of a deleted link is free to its owner and to admins. " +
			"By default the answer comes once no edge answers, unmarked, with what was before the link, also where `reuse` found it. " +
			"With an `Idempotency-Key` a call that was carried out is answered again and not repeated; one that failed is tried anew.",
	}, a.createLink)
	route(a, operation{
		method: http.MethodGet, path: "/links", id: "listLinks", scope: links.ScopeLinksRead,
		summary: "List links", status: http.StatusOK,
		note: "A page at a time: `next_cursor` of one page is `cursor` of the next, and links made meanwhile shift nothing. " +
			"A confined key sees its owner's links.",
	}, a.listLinks)
	route(a, operation{
		method: http.MethodPost, path: "/links/bulk", id: "createLinks", scope: links.ScopeLinksWrite,
		summary: "Create up to 1,000 links, each of which succeeds or fails alone", status: http.StatusOK, body: many, limited: true,
		note: "The results are in the order of the items, each with the status and the body that a creation by itself would have been answered with. " +
			"With an `Idempotency-Key` links that were made by the call before are answered again, and the other items are tried anew.",
	}, a.createLinks)
	route(a, operation{
		method: http.MethodGet, path: "/links/{code}", id: "getLink", scope: links.ScopeLinksRead,
		summary: "Show a link", status: http.StatusOK, also: []int{http.StatusNotModified},
		note: "With an `ETag`, for changes that must not overwrite others'.",
	}, a.getLink)
	route(a, operation{
		method: http.MethodPatch, path: "/links/{code}", id: "changeLink", scope: links.ScopeLinksWrite,
		summary: "Change a link by JSON merge patch", status: http.StatusOK, body: patch,
		fails: []int{http.StatusPreconditionFailed},
		note: "Fields left out stay as they are, null sets one back to its default (RFC 7396). An `expires_at` in the past ends the link now. " +
			"A body without fields changes nothing but the version.",
	}, a.patchLink)
	route(a, operation{
		method: http.MethodDelete, path: "/links/{code}", id: "deleteLink", scope: links.ScopeLinksWrite,
		summary: "Delete a link", status: http.StatusNoContent, fails: []int{http.StatusPreconditionFailed},
		note: "It answers 404 at every edge from then on, and a second deletion is 404 too. Its alias is free to its owner and to admins.",
	}, a.deleteLink)

	a.qrRoutes()
	a.historyRoutes()
	a.statistics()
	a.domainRoutes()
	a.blockRoutes()

	route(a, operation{
		method: http.MethodPost, path: "/purge", id: "purge", scope: links.ScopeLinksWrite,
		summary: "Make every edge load links anew", status: http.StatusOK, body: bodyOf[Purge](bodyLimit, mediaJSON),
		note: "Of some links by their codes, of all that have a tag, or, for an admin, of all there are. Nothing of them changes. " +
			"Where there is no link to purge, no edge is waited for: the receipt says `ack=commit, edges=0`.",
	}, a.purge)

	route(a, operation{
		method: http.MethodPost, path: "/keys", id: "createKey", scope: links.ScopeAdmin,
		summary: "Make an API key", status: http.StatusCreated, body: bodyOf[KeyCreate](bodyLimit, mediaJSON),
		note: "The key itself is in this answer and nowhere else.",
	}, a.createKey)
	route(a, operation{
		method: http.MethodGet, path: "/keys", id: "listKeys", scope: links.ScopeAdmin,
		summary: "List API keys", status: http.StatusOK,
		note: "Those that are valid, oldest first, a page at a time, without what their holders present.",
	}, a.listKeys)
	route(a, operation{
		method: http.MethodPatch, path: "/keys/{id}", id: "changeKey", scope: links.ScopeAdmin,
		summary: "Change an API key", status: http.StatusOK, body: bodyOf[KeyChange](bodyLimit, mediaJSON, mediaPatch),
		note: "Its note, and how fast it may create links; what it may do stays as it was made. It holds for the key's next call, at every origin.",
	}, a.changeKey)
	route(a, operation{
		method: http.MethodDelete, path: "/keys/{id}", id: "revokeKey", scope: links.ScopeAdmin,
		summary: "Revoke an API key", status: http.StatusNoContent, fails: []int{http.StatusConflict},
		note: "It is refused at once, by every origin. The last admin key cannot be revoked: that is 409.",
	}, a.revokeKey)
}

// qrRoutes registers what there is to see of links.
func (a *API) qrRoutes() {
	route(a, operation{
		method: http.MethodGet, path: "/links/{code}/qr", id: "linkQR", scope: links.ScopeLinksRead,
		summary: "Draw the QR code of a link", status: http.StatusOK, also: []int{http.StatusNotModified},
		pictures: []string{mediaPNG, mediaSVG},
		note:     "It says the link's `short_url`, whatever the link's state is. A size that is too small for that is 422.",
	}, a.linkQR)
}

// historyRoutes registers what there is to know about the past of links, and the
// way back.
func (a *API) historyRoutes() {
	route(a, operation{
		method: http.MethodGet, path: "/links/{code}/history", id: "linkHistory", scope: links.ScopeLinksRead,
		summary: "Show who changed a link from what to what", status: http.StatusOK,
		note: "Newest first, a page at a time, as long as the service keeps it and of a link at most the newest thousand entries. It stays when the link is " +
			"deleted, and goes on when its code is taken again. A confined key sees what was written to its owner's links, " +
			"and nothing of the time in which they were another owner's.",
	}, a.history)
	route(a, operation{
		method: http.MethodPost, path: "/links/{code}/rollback", id: "rollbackLink", scope: links.ScopeLinksWrite,
		summary: "Give a link back the content of an older version", status: http.StatusOK,
		body: bodyOf[Rollback](bodyLimit, mediaJSON), fails: []int{http.StatusPreconditionFailed},
		note: "All fields that can be changed are as they were in that version. It is a change like others: the link gets a new version, " +
			"and what would be refused in a change today is refused here. A deleted link cannot be rolled back; take its code again first.",
	}, a.rollback)
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
			"stops; a client that reads too slowly is dropped. An origin has 100 of them at most, 20 of them for one key or owner, and answers 429 beyond that.",
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
	a.page("GET /docs/{$}", redirect("/docs", http.StatusPermanentRedirect))
	a.page("GET /{$}", redirect("/docs", http.StatusSeeOther))
}

// domainRoutes registers what there is to do with domains.
func (a *API) domainRoutes() {
	route(a, operation{
		method: http.MethodPost, path: "/domains", id: "createDomain", scope: links.ScopeAdmin,
		summary: "Register a domain", status: http.StatusCreated, fails: []int{http.StatusConflict},
		body: bodyOf[DomainCreate](bodyLimit, mediaJSON),
		note: "Links can be made on it at once. Visitors who come by its host reach its links and no others. One that is registered already is 409, and so " +
			"is one more than 10,000, or than 3.5 MiB of all domains and blocks together.",
	}, a.createDomain)
	route(a, operation{
		method: http.MethodGet, path: "/domains", id: "listDomains", scope: links.ScopeLinksRead,
		summary: "List domains", status: http.StatusOK,
		note: "In the order of their hosts, the default domain first, a page at a time.",
	}, a.listDomains)
	route(a, operation{
		method: http.MethodGet, path: "/domains/{host}", id: "getDomain", scope: links.ScopeLinksRead,
		summary: "Show a domain", status: http.StatusOK, also: []int{http.StatusNotModified},
		note: "With an `ETag`, for changes that must not overwrite others'. `_default` names the default domain.",
	}, a.getDomain)
	route(a, operation{
		method: http.MethodPatch, path: "/domains/{host}", id: "changeDomain", scope: links.ScopeAdmin,
		summary: "Change a domain by JSON merge patch", status: http.StatusOK, fails: []int{http.StatusConflict, http.StatusPreconditionFailed},
		body: bodyOf[DomainChange](bodyLimit, mediaJSON, mediaPatch),
		note: "Fields left out stay as they are, null takes back what was set (RFC 7396). Status, policies, class and clicks are for links made from then on; " +
			"links that there are keep theirs. A change of nothing makes no new version, and waits for edges to have the domain as it is.",
	}, a.patchDomain)
	route(a, operation{
		method: http.MethodDelete, path: "/domains/{host}", id: "deleteDomain", scope: links.ScopeAdmin,
		summary: "Unregister a domain", status: http.StatusNoContent, fails: []int{http.StatusConflict, http.StatusPreconditionFailed},
		note: "While it has links that is 409. Its host then belongs to the default domain. Aliases of its deleted links are " +
			"their owners' if it is registered again.",
	}, a.deleteDomain)
}

// blockRoutes registers what there is to do about hosts that no link may lead to.
func (a *API) blockRoutes() {
	route(a, operation{
		method: http.MethodPost, path: "/blocks", id: "createBlock", scope: links.ScopeAdmin,
		summary: "Block a host", status: http.StatusCreated, also: []int{http.StatusOK}, fails: []int{http.StatusConflict},
		body: bodyOf[BlockCreate](bodyLimit, mediaJSON),
		note: "Links that lead to it answer 410 at every edge, and an `expired_url` that does is not followed; neither can be set any more. 200 if " +
			"it was blocked through this API before: then kind and note are now these. At most 10,000 hosts can be blocked, those of the operator's file among them: one more is 409.",
	}, a.createBlock)
	route(a, operation{
		method: http.MethodGet, path: "/blocks", id: "listBlocks", scope: links.ScopeAdmin,
		summary: "List blocked hosts", status: http.StatusOK,
		note: "Those blocked through this API first, then those of the operator's file, each in the order of hosts, a page at a time.",
	}, a.listBlocks)
	route(a, operation{
		method: http.MethodGet, path: "/blocks/{host}", id: "getBlock", scope: links.ScopeAdmin,
		summary: "Show a blocked host", status: http.StatusOK,
		note: "Of one that is blocked twice, what this API has of it. A host that is blocked by the suffix of another one alone is 404.",
	}, a.getBlock)
	route(a, operation{
		method: http.MethodDelete, path: "/blocks/{host}", id: "deleteBlock", scope: links.ScopeAdmin,
		summary: "Unblock a host", status: http.StatusNoContent, fails: []int{http.StatusConflict},
		note: "Links that lead to it work again, unless something else blocks it. A host that the operator's file blocks is 409: it has to go there.",
	}, a.deleteBlock)
}
