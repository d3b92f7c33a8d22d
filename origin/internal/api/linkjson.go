package api

import (
	"net/url"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// LinkChange is the body of a change: fields left out stay as they are, null
// sets one back to its default. What the tags say of fields left out holds for
// creations; describeLeftOut puts it right for changes.
type LinkChange struct {
	Target     field[string]    `json:"target" required:"true" nullable:"false" maxLength:"8192" doc:"Where the link leads: an http or https URL. Sent byte for byte; only bytes that may not stand in a URL are percent-encoded, once" example:"https://example.com/a?b=c"`
	Status     field[int64]     `json:"status" required:"false" enum:"301,302,307,308" doc:"Status of the redirect" unset:"what its domain has, else 302" example:"302"`
	Enabled    field[bool]      `json:"enabled" required:"false" doc:"false: the link answers 410" unset:"true"`
	Owner      field[string]    `json:"owner" required:"false" maxLength:"128" doc:"Whose link it is" unset:"the key's owner" example:"marketing"`
	Title      field[string]    `json:"title" required:"false" maxLength:"256" doc:"For people" unset:"empty" example:"Spring sale"`
	Tags       field[[]string]  `json:"tags" required:"false" maxItems:"32" doc:"For finding links; up to 64 characters each" unset:"none" example:"[\"spring\",\"mail\"]"`
	Query      field[string]    `json:"query" required:"false" enum:"off,append,request,target" doc:"What becomes of a request's query: dropped, appended, or merged, where request or target wins a clash of names" unset:"what its domain has, else off" example:"append"`
	Suffix     field[string]    `json:"suffix" required:"false" enum:"off,append" doc:"What becomes of a path after the code: 404, or appended to the target's path" unset:"what its domain has, else off"`
	Class      field[string]    `json:"class" required:"false" enum:"available,strict" doc:"What an edge does that cannot prove that it knows the link's newest state: serve it marked as stale, or answer 503" unset:"what its domain has, else available"`
	Clicks     field[string]    `json:"clicks" required:"false" enum:"on,off" doc:"Whether clicks are counted" unset:"what its domain has, else on"`
	StartsAt   field[time.Time] `json:"starts_at" required:"false" doc:"Before this time the link answers 404" unset:"it is there at once"`
	ExpiresAt  field[time.Time] `json:"expires_at" required:"false" doc:"From this time on the link answers 410, or leads to expired_url; in the past only in a change, where it ends the link" unset:"it never expires" example:"2040-01-02T15:04:05Z"`
	TTLSeconds field[int64]     `json:"ttl_seconds" required:"false" minimum:"1" maximum:"3155760000" doc:"In place of expires_at: seconds from now" unset:"expires_at counts"`
	ExpiredURL field[string]    `json:"expired_url" required:"false" maxLength:"8192" doc:"Where an expired link leads" unset:"where its domain says, else nowhere: it answers 410"`
	MaxClicks  field[int64]     `json:"max_clicks" required:"false" minimum:"1" doc:"How many clicks are redirected: after that many the link answers 410, or leads to expired_url. Nobody is told the target but those who are redirected" unset:"no limit"`
}

// LinkCreate is the body of a creation: a change of nothing, and the name.
type LinkCreate struct {
	LinkChange
	Alias    field[string] `json:"alias" required:"false" maxLength:"64" doc:"The code, chosen: letters, digits, - _ . ~" unset:"a code is generated" example:"spring-sale"`
	Domain   field[string] `json:"domain" required:"false" doc:"A registered domain; _default is the default domain" unset:"the default domain"`
	CodeKind field[string] `json:"code_kind" required:"false" enum:"random,snowflake,counter" doc:"How a code is generated" unset:"random"`
	Reuse    field[bool]   `json:"reuse" required:"false" doc:"Answer with a live link of the same domain, owner, target and options, if there is one with a generated code, no start and no expiry; ignored with alias, starts_at, expires_at or ttl_seconds, and if enabled is false" unset:"false"`
}

// input is the body in the words of package links.
func (b *LinkCreate) input() *links.Input {
	domain := b.Domain.Field
	if domain.Value != nil {
		host := domainHost(*domain.Value)
		domain.Value = &host
	}
	return &links.Input{
		Target: b.Target.Field, Status: b.Status.Field, Enabled: b.Enabled.Field,
		Owner: b.Owner.Field, Title: b.Title.Field, Tags: b.Tags.Field,
		Query: b.Query.Field, Suffix: b.Suffix.Field, Class: b.Class.Field, Clicks: b.Clicks.Field,
		StartsAt: b.StartsAt.Field, ExpiresAt: b.ExpiresAt.Field, TTL: b.TTLSeconds.Field,
		ExpiredURL: b.ExpiredURL.Field, MaxClicks: b.MaxClicks.Field,
		Alias: b.Alias.Field, Domain: domain, CodeKind: b.CodeKind.Field, Reuse: b.Reuse.Field,
	}
}

// readInput reads the body of a creation or change. A change has the same
// fields, so that those of them that cannot be changed are refused by name.
func readInput(raw []byte) (*links.Input, error) {
	var body LinkCreate
	faults, err := decode(raw, &body)
	switch {
	case err != nil:
		return nil, err
	case len(faults) > 0:
		return nil, faulty(faults)
	}
	return body.input(), nil
}

// Link is a link as it is answered. Times are UTC.
type Link struct {
	Domain     string     `json:"domain" doc:"Empty: the default domain"`
	Code       string     `json:"code" doc:"The code, as it stands in the short URL" example:"spring-sale"`
	ShortURL   string     `json:"short_url" format:"uri" doc:"What visitors follow" example:"https://wp.example/spring-sale"`
	Target     string     `json:"target" format:"uri" doc:"Where the link leads" example:"https://example.com/a?b=c"`
	Status     int        `json:"status" enum:"301,302,307,308" doc:"Status of the redirect" example:"302"`
	Enabled    bool       `json:"enabled" doc:"false: the link answers 410" example:"true"`
	Owner      string     `json:"owner" doc:"Whose link it is; empty: nobody's" example:"marketing"`
	Title      string     `json:"title" doc:"For people" example:"Spring sale"`
	Tags       []string   `json:"tags" nullable:"false" doc:"For finding links" example:"[\"spring\",\"mail\"]"`
	Query      string     `json:"query" enum:"off,append,request,target" doc:"What becomes of a request's query" example:"append"`
	Suffix     string     `json:"suffix" enum:"off,append" doc:"What becomes of a path after the code" example:"off"`
	Class      string     `json:"class" enum:"available,strict" doc:"What an edge does that cannot prove that it knows the newest state" example:"available"`
	Clicks     string     `json:"clicks" enum:"on,off" doc:"Whether clicks are counted" example:"on"`
	StartsAt   *time.Time `json:"starts_at" nullable:"true" doc:"Before this time the link answers 404; null: it is there from the beginning"`
	ExpiresAt  *time.Time `json:"expires_at" nullable:"true" doc:"From this time on the link answers 410, or leads to expired_url; null: never" example:"2040-01-02T15:04:05Z"`
	ExpiredURL *string    `json:"expired_url" nullable:"true" doc:"Where an expired link leads; null: nowhere, it answers 410"`
	MaxClicks  *int64     `json:"max_clicks" nullable:"true" doc:"How many clicks are redirected; null: any number"`
	CreatedAt  time.Time  `json:"created_at" doc:"When it was made" example:"2030-01-02T15:04:05Z"`
	UpdatedAt  time.Time  `json:"updated_at" doc:"When it was changed last" example:"2030-01-02T15:04:05Z"`
	Version    uint64     `json:"version" doc:"Grows with every change" example:"17"`
	QRURL      string     `json:"qr_url" format:"uri-reference" doc:"Where the API has the link's QR code" example:"/api/v1/links/spring-sale/qr"`
	QR         string     `json:"qr,omitempty" format:"uri" doc:"The link's QR code, a PNG in a data URL; there only where a creation asks for it" example:"data:image/png;base64,iVBORw0KGgo="`
}

// show is a link as it is answered.
func (a *API) show(l *link.Link) Link {
	v := Link{
		Domain: l.Key.Domain, Code: l.Key.Code, ShortURL: a.shortURL(l.Key),
		Target: l.Target, Status: l.Status, Enabled: l.Enabled,
		Owner: l.Owner, Title: l.Title, Tags: l.Tags,
		Query: l.Query.String(), Suffix: l.Suffix.String(), Class: l.Class.String(), Clicks: "off",
		StartsAt: shownTime(l.StartsAt), ExpiresAt: shownTime(l.ExpiresAt),
		ExpiredURL: shownUnlessZero(l.ExpiredURL), MaxClicks: shownUnlessZero(l.MaxClicks),
		CreatedAt: l.CreatedAt.UTC(), UpdatedAt: l.UpdatedAt.UTC(), Version: l.Version,
		QRURL: resource(l.Key, "/qr"),
	}
	if l.Clicks {
		v.Clicks = "on"
	}
	if v.Tags == nil {
		v.Tags = []string{}
	}
	return v
}

func shownTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func shownUnlessZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// shortURL is what visitors follow: other domains are served as the default one
// is, but each on its own host.
func (a *API) shortURL(key link.Key) string {
	u := url.URL{Scheme: a.public.Scheme, Host: a.public.Host, Path: "/" + key.Code}
	if key.Domain != "" {
		u.Host = key.Domain
	}
	return u.String()
}

// location is where the API answers for the link.
func location(key link.Key) string { return resource(key, "") }

// resource is where the API answers for something of the link.
func resource(key link.Key, part string) string {
	u := url.URL{Path: prefix + "/links/" + key.Code + part}
	if key.Domain != "" {
		u.RawQuery = url.Values{"domain": {key.Domain}}.Encode()
	}
	return u.String()
}
