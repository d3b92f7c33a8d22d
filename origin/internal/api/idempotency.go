package api

import (
	"context"
	"crypto/sha256"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// Idempotency is the header by which a creation can be sent again, by a client
// that did not hear its answer, without being carried out again.
type Idempotency struct {
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"255" pattern:"^[!-~]+$" doc:"A name for this call, of 1 to 255 visible ASCII characters, that the API key has for no other one. Sent again within 24 hours with the same method, path, query and body, the call is answered as the first time; with any other request it is 422. Of a call that fails nothing is remembered" example:"5f0c6d1e-2b7a-4a51-9c0e-3a8f6f1f9d42"`

	sent    []string // every value of the header
	request string   // method, path and query
}

const idempotencyKey = "Idempotency-Key"

// Resolve notes what the digest of the request is made of besides its body.
func (in *Idempotency) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	in.sent = r.Header.Values(idempotencyKey)
	in.request = r.Method + " " + r.URL.RequestURI() + "\n"
	return nil
}

// call is a creation of so many items, which may be one that was carried out
// before, in part or as a whole.
type call struct {
	named bool
	once  links.Once
	done  []bool // of the items; nil: none
}

// call finds out what was carried out before of a call with this body. Errors:
// a *problemError, links.ErrOtherRequest, link.ErrUnavailable.
func (in *Idempotency) call(ctx context.Context, a *API, body []byte, items int) (c call, err error) {
	switch {
	case len(in.sent) == 0:
		return call{}, nil
	case len(in.sent) > 1:
		return call{}, badIdempotencyKey("is given more than once")
	case !isIdempotencyKey(in.IdempotencyKey):
		return call{}, badIdempotencyKey("must have 1 to 255 visible ASCII characters")
	}
	request := sha256.Sum256(append([]byte(in.request), body...))
	c = call{named: true, once: callerOf(ctx).Once(in.IdempotencyKey, request)}
	c.done, err = a.links.Done(ctx, c.once, items)
	return c, err
}

// isIdempotencyKey is what the document has of the header, whose words for a
// refusal would be the library's.
func isIdempotencyKey(name string) bool {
	const most = 255
	return name != "" && len(name) <= most && !strings.ContainsFunc(name, func(r rune) bool { return r < '!' || r > '~' })
}

func badIdempotencyKey(reason string) *problemError {
	return faulty([]link.FieldError{{Field: idempotencyKey, Reason: reason}})
}

// item is the Once of an item, nil in a call without a name.
func (c *call) item(i int) *links.Once {
	if !c.named {
		return nil
	}
	return c.once.At(i)
}

// fresh reports whether the item is to be carried out now.
func (c *call) fresh(i int) bool { return c.done == nil || !c.done[i] }

// freshOf is how many of so many items are.
func (c *call) freshOf(items int) (n int) {
	for i := range items {
		if c.fresh(i) {
			n++
		}
	}
	return n
}

// replayed is the value of the header Idempotency-Replayed.
func replayed(all bool) string {
	if all {
		return "true"
	}
	return ""
}
