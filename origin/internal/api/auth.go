package api

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"waypost/origin/internal/links"
)

const challenge = `Bearer realm="waypost"`

// admit lets a request pass whose key has the scope, and puts the key into its
// context.
func (a *API) admit(scope string) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		key, err := a.authenticate(r)
		if err == nil {
			accountOf(r.Context()).key = key.ID
			if !key.Allows(scope) {
				err = unscoped(scope)
			}
		}
		if err != nil {
			a.problemOf(r.Context(), err).write(w)
			return
		}
		next(huma.WithValue(ctx, keyOfRequest{}, key))
	}
}

// unscoped is the problem of a key that may do other things.
func unscoped(scope string) *problemError {
	return newProblem(http.StatusForbidden, "the key lacks the scope "+scope).
		with("WWW-Authenticate", challenge+`, error="insufficient_scope", scope="`+scope+`"`)
}

// authenticate returns the key that the request proves. Only those that fail
// are counted against their address. Once that has used up its calls, a key is
// refused without a look at the store, which would else do work for whoever
// guesses; one that was valid a moment ago is not locked out by its neighbours.
func (a *API) authenticate(r *http.Request) (links.APIKey, error) {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sent, text := strings.EqualFold(scheme, "Bearer"), strings.TrimSpace(text)
	key, err := links.APIKey{}, links.ErrUnknownKey
	if sent {
		if wait := a.throttle.wait(a.address(r)); wait > 0 && !a.proven.recent(text) {
			return links.APIKey{}, tooMany(wait, tooManyKeyless)
		}
		if key, err = a.keys.Check(r.Context(), text); err == nil || errors.Is(err, links.ErrUnknownKey) {
			a.proven.note(text, err == nil)
		}
	}
	if !errors.Is(err, links.ErrUnknownKey) {
		return key, err
	}
	if p := a.throttled(r); p != nil {
		return links.APIKey{}, p
	}
	if !sent {
		return links.APIKey{}, newProblem(http.StatusUnauthorized, "an API key is needed: Authorization: Bearer <key>").
			with("WWW-Authenticate", challenge)
	}
	return links.APIKey{}, newProblem(http.StatusUnauthorized, "the API key is not valid").
		with("WWW-Authenticate", challenge+`, error="invalid_token"`)
}

// throttled counts a call without a valid key against its address.
func (a *API) throttled(r *http.Request) *problemError {
	wait, ok := a.throttle.take(a.address(r))
	if ok {
		return nil
	}
	return tooMany(wait, tooManyKeyless)
}

const tooManyKeyless = "too many calls without a valid key from this address"

// tooMany is the problem of an address whose bucket stays empty for so long.
func tooMany(wait time.Duration, detail string) *problemError {
	seconds := int(math.Ceil(wait.Seconds()))
	return newProblem(http.StatusTooManyRequests, detail).with("Retry-After", strconv.Itoa(max(1, seconds)))
}
