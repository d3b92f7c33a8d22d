package api

import (
	"context"
	"fmt"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// Purge is the body of a purge: exactly one of codes, tag and all.
type Purge struct {
	Codes  field[[]string] `json:"codes" required:"false" minItems:"1" maxItems:"1000" doc:"Links by their codes, on one domain" example:"[\"spring-sale\"]"`
	Domain field[string]   `json:"domain" required:"false" doc:"Of the codes; the default domain if left out, and _default"`
	Tag    field[string]   `json:"tag" required:"false" minLength:"1" maxLength:"64" doc:"Links that have the tag, on all domains; of a confined key only its owner's"`
	All    field[bool]     `json:"all" required:"false" enum:"true" doc:"All links; needs the scope admin"`
}

// Purged is the receipt of a purge.
type Purged struct {
	Ack     string   `json:"ack" enum:"edges,commit" doc:"What was waited for"`
	Edges   int      `json:"edges" doc:"Edges that were asked to confirm"`
	Acked   int      `json:"acked" doc:"Edges known to have it"`
	MS      float64  `json:"ms" doc:"Milliseconds from the call to the answer"`
	Purged  *int     `json:"purged" nullable:"true" doc:"Number of links; null if all were purged"`
	Missing []string `json:"missing" nullable:"false" doc:"Codes of no link that the key may see"`
}

type purgeRequest struct {
	Ack
	RawBody []byte
}

type purgeAnswer struct {
	Propagation string `header:"Waypost-Propagation" doc:"How far the purge got"`
	Body        Purged
}

func (a *API) purge(ctx context.Context, in *purgeRequest) (*purgeAnswer, error) {
	var body Purge
	refused, err := decode(in.RawBody, &body)
	switch {
	case err != nil:
		return nil, err
	case len(refused) == 0:
		refused = body.faults()
	}
	if len(refused) > 0 {
		return nil, faulty(refused)
	}
	switch {
	case body.All.Value != nil:
		p, err := a.links.PurgeAll(ctx, callerOf(ctx), in.ack())
		return purged(p, nil, nil, err)
	case body.Tag.Value != nil:
		p, err := a.links.PurgeTag(ctx, callerOf(ctx), *body.Tag.Value, in.ack())
		return purged(p, &p.Links, nil, err)
	}
	keys, given, missing := body.keys()
	p, err := a.links.Purge(ctx, callerOf(ctx), keys, in.ack())
	for _, key := range p.Missing {
		missing = append(missing, given[key])
	}
	return purged(p, &p.Links, missing, err)
}

func purged(p links.Purged, count *int, missing []string, err error) (*purgeAnswer, error) {
	if err != nil {
		return nil, err
	}
	if missing == nil {
		missing = []string{}
	}
	r := p.Receipt
	return &purgeAnswer{Propagation: propagation(r), Body: Purged{
		Ack: string(r.Ack), Edges: r.Edges, Acked: r.Acked, MS: milliseconds(r), Purged: count, Missing: missing,
	}}, nil
}

// faults checks which fields go together; null is as if left out.
func (b *Purge) faults() []link.FieldError {
	var found []link.FieldError
	add := func(field, reason string) { found = append(found, link.FieldError{Field: field, Reason: reason}) }
	ways := 0
	for _, given := range []bool{b.Codes.Value != nil, b.Tag.Value != nil, b.All.Value != nil} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		add("body", "must have exactly one of codes, tag and all")
	}
	if codes := b.Codes.Value; codes != nil && (len(*codes) == 0 || len(*codes) > links.MaxPurge) {
		add("codes", fmt.Sprintf("must be a list of 1 to %d codes", links.MaxPurge))
	}
	if b.Domain.Value != nil && b.Codes.Value == nil {
		add("domain", "goes with codes only")
	}
	if b.All.Value != nil && !*b.All.Value {
		add("all", "must be true")
	}
	return found
}

// keys are the keys of the codes, once each, and how each code was written.
// Codes that no link can have are missing.
func (b *Purge) keys() (keys []link.Key, given map[link.Key]string, missing []string) {
	given = make(map[link.Key]string)
	for _, code := range *b.Codes.Value {
		key, err := links.ParseKey(domainHost(valueOf(b.Domain)), code)
		if err != nil {
			missing = append(missing, code)
			continue
		}
		if _, repeated := given[key]; !repeated {
			given[key] = code
			keys = append(keys, key)
		}
	}
	return keys, given, missing
}
