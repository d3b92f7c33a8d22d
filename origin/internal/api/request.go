package api

import (
	"context"
	"net/http"

	"waypost/origin/internal/links"
)

// What a request carries on its way to the operation.
type (
	keyOfRequest  struct{} // links.APIKey, once checked
	idOfRequest   struct{} // string
	slotOfRequest struct{} // func(), which gives back its place among the requests in flight

	accountOfRequest struct{} // *account

	headerOfAnswer struct{} // http.Header, for what is said whatever becomes of the request
)

// keyOf is the request's key, the zero APIKey before it is checked.
func keyOf(ctx context.Context) links.APIKey {
	key, _ := ctx.Value(keyOfRequest{}).(links.APIKey)
	return key
}

// answerHeader is the header of the answer, until that is sent.
func answerHeader(ctx context.Context) http.Header {
	h, _ := ctx.Value(headerOfAnswer{}).(http.Header)
	return h
}

// callerOf is whom the request's key acts for.
func callerOf(ctx context.Context) links.Caller {
	key := keyOf(ctx)
	return key.Caller()
}

// requestIDOf is the request's id, "" outside of a request.
func requestIDOf(ctx context.Context) string {
	id, _ := ctx.Value(idOfRequest{}).(string)
	return id
}

// leaveSlot makes the request one that counts no more among those in flight,
// because it is bounded otherwise and may take long.
func leaveSlot(ctx context.Context) {
	if leave, ok := ctx.Value(slotOfRequest{}).(func()); ok {
		leave()
	}
}
