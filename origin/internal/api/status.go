package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"waypost/origin/internal/clicks"
	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// problemOf is the status table: what each error of the rooms below means to a
// client. What is not in it is a fault of ours, which is logged here, once, and
// about which the client learns nothing.
func (a *API) problemOf(ctx context.Context, err error) *problemError {
	if p, ok := errors.AsType[*problemError](err); ok {
		return p
	}
	if invalid, ok := errors.AsType[*link.InvalidError](err); ok {
		return faulty(invalid.Fields)
	}
	switch {
	case errors.Is(err, link.ErrNotFound):
		return newProblem(http.StatusNotFound, "there is nothing of this name that this key may see")
	case errors.Is(err, link.ErrTaken):
		return newProblem(http.StatusConflict, "the alias is taken")
	case errors.Is(err, links.ErrOtherRequest):
		return badIdempotencyKey("was sent with another request before")
	case errors.Is(err, links.ErrDomainTaken):
		return newProblem(http.StatusConflict, "the domain is registered already")
	case errors.Is(err, links.ErrInUse):
		return newProblem(http.StatusConflict, "the domain has links: delete them first")
	case errors.Is(err, links.ErrDefaultDomain):
		return newProblem(http.StatusConflict, "the default domain cannot be deleted")
	case errors.Is(err, links.ErrFull):
		return newProblem(http.StatusConflict, "there are as many of them as there may be")
	case errors.Is(err, links.ErrByFile):
		return newProblem(http.StatusConflict, "the operator's file blocks the host, and has to be changed")
	case errors.Is(err, links.ErrLastAdmin):
		return newProblem(http.StatusConflict, "this is the last admin key: make another one before it is revoked")
	case errors.Is(err, link.ErrMismatch):
		return newProblem(http.StatusPreconditionFailed, "it is not in the version that If-Match names")
	case errors.Is(err, links.ErrOwner):
		return newProblem(http.StatusForbidden, "the key is confined to another owner")
	case errors.Is(err, clicks.ErrConfined):
		return newProblem(http.StatusForbidden, "the key is confined to an owner, and this is about no owner's links")
	case errors.Is(err, links.ErrAdmin):
		return unscoped(links.ScopeAdmin)
	case errors.Is(err, links.ErrNoCode):
		a.outages.Note(ctx, requestIDOf(ctx), err)
		return newProblem(http.StatusServiceUnavailable, "all codes that were tried are taken; try again, or choose an alias or another code_kind").
			with("Retry-After", "1")
	case errors.Is(err, clicks.ErrCrowded):
		return newProblem(http.StatusTooManyRequests, "too many live views are open at this origin").with("Retry-After", "10")
	case errors.Is(err, clicks.ErrShare):
		return newProblem(http.StatusTooManyRequests, "this key, or its owner, has as many live views open at this origin as one may: "+
			strconv.Itoa(clicks.MaxViewsEach)).with("Retry-After", "10")
	case errors.Is(err, clicks.ErrEnding):
		return newProblem(http.StatusServiceUnavailable, "this origin is about to end").with("Retry-After", "1")
	case errors.Is(err, link.ErrUnavailable), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		a.outages.Note(ctx, requestIDOf(ctx), err)
		return newProblem(http.StatusServiceUnavailable, "the store of links cannot be reached at the moment").with("Retry-After", "1")
	}
	a.logger.LogAttrs(ctx, slog.LevelError, "request failed",
		slog.String("request_id", requestIDOf(ctx)), slog.Any("error", err))
	return internal()
}

func internal() *problemError {
	return newProblem(http.StatusInternalServerError, "something is wrong on our side; it has been logged under the request id")
}
