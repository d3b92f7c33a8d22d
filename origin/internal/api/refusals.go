package api

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// refusals are the statuses of the problems that the operation can answer with:
// those of its kind, and its own. Any other is described as the default.
func (op *operation) refusals() []int {
	all := []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity,
		http.StatusTooManyRequests, http.StatusServiceUnavailable,
	}
	if strings.Contains(op.path, "{") {
		all = append(all, http.StatusNotFound)
	}
	if op.body != nil {
		all = append(all, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	return append(all, op.fails...)
}

// refusalWords says what a problem of this status means, whatever the operation.
func refusalWords(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "The body is no JSON or did not arrive whole, or the query is malformed"
	case http.StatusUnauthorized:
		return "There is no valid API key in `Authorization: Bearer <key>`"
	case http.StatusForbidden:
		return "The key lacks the scope, or is confined to another owner"
	case http.StatusNotFound:
		return "There is nothing of this name that the key may see"
	case http.StatusConflict:
		return "The name is taken, or what is there stands in the way"
	case http.StatusPreconditionFailed:
		return "It is not in the version that `If-Match` names"
	case http.StatusRequestEntityTooLarge:
		return "The body is too large"
	case http.StatusUnsupportedMediaType:
		return "The body is of another media type, in another charset or compressed"
	case http.StatusUnprocessableEntity:
		return "Fields or parameters were refused; `errors` names them, bad values only where names and types are right"
	case http.StatusTooManyRequests:
		return "Too many calls; `Retry-After` says when to come again"
	case http.StatusServiceUnavailable:
		return "The store cannot be reached, or too much is asked of this origin at the same time; try again"
	}
	return "Any other problem: 408 if the body does not arrive within 30 seconds, 500 if something is wrong on our side"
}

// refusal refers to the description of a problem, which all operations share, or
// those share whose keys have an allowance; status 0 stands for every status that
// is not described by itself.
func (a *API) refusal(status int, limited bool) *huma.Response {
	name := strings.ReplaceAll(http.StatusText(status), " ", "")
	headers := append([]string{requestID}, refusalHeaders(status)...)
	if status == 0 {
		name = "Problem"
	}
	if limited {
		name, headers = "Limited"+name, append(headers, rateLimit, rateLimitPolicy)
	}
	shared := a.huma.OpenAPI().Components
	if shared.Responses == nil {
		shared.Responses = make(map[string]*huma.Response)
	}
	if shared.Responses[name] == nil {
		described := &huma.Response{
			Description: refusalWords(status),
			Headers:     make(map[string]*huma.Param),
			Content:     map[string]*huma.MediaType{mediaProblem: {Schema: a.schemaOf(reflect.TypeFor[Problem]())}},
		}
		for _, header := range headers {
			described.Headers[header] = a.header(header)
		}
		shared.Responses[name] = described
	}
	return &huma.Response{Ref: "#/components/responses/" + name}
}

const requestID = "X-Request-Id"

// refusalHeaders are those that a problem of this status comes with.
func refusalHeaders(status int) []string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return []string{"WWW-Authenticate"}
	case http.StatusUnsupportedMediaType:
		return []string{"Accept"}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return []string{"Retry-After"}
	}
	return nil
}

// header refers to the description of a header that is the same for all.
func (a *API) header(name string) *huma.Param {
	shared := a.huma.OpenAPI().Components
	if shared.Headers == nil {
		shared.Headers = make(map[string]*huma.Header)
	}
	if shared.Headers[name] == nil {
		shared.Headers[name] = describedHeader(name)
	}
	return &huma.Param{Ref: "#/components/headers/" + name}
}

func describedHeader(name string) *huma.Header {
	text := huma.Schema{Type: huma.TypeString}
	switch name {
	case requestID:
		text.Description = "The request's id, as sent with the request or made for it; logs have it"
	case "WWW-Authenticate":
		text.Description = "What kind of key is missing; of a 403 the scope, unless the owner is the reason"
	case "Accept":
		text.Description = "The media types that the operation takes, unless the encoding is the reason"
	case rateLimit:
		text.Description = `How many links the key may still create, "create";r=<links>;t=<s>: one more in t seconds. On answers to creations by a key that is limited, once a token was asked for`
	case rateLimitPolicy:
		text.Description = `How many links the key may create, "create";q=<links>;w=<s>: q at once, and that many again after w seconds. Comes with RateLimit`
	case "Retry-After":
		text = huma.Schema{Type: huma.TypeInteger, Description: "Seconds to wait before another try, at least 1"}
	}
	return &huma.Header{Description: text.Description, Schema: &text}
}
