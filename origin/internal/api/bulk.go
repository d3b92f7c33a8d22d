package api

import (
	"context"
	"encoding/json"
	"strconv"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// BulkCreate is the body of a bulk creation.
type BulkCreate struct {
	Items []LinkCreate `json:"items" minItems:"1" maxItems:"1000" nullable:"false" doc:"The links to make"`
}

// bulkBody reads a BulkCreate item by item, since one bad item fails alone.
type bulkBody struct {
	Items field[[]json.RawMessage] `json:"items"`
}

// BulkResult is what became of one item.
type BulkResult struct {
	Status int      `json:"status" doc:"What a creation by itself would have answered" example:"201"`
	Link   *Link    `json:"link,omitempty" doc:"The link that was made or found"`
	Error  *Problem `json:"error,omitempty" doc:"Why there is none"`
}

// BulkResults are in the order of the items.
type BulkResults struct {
	Results []BulkResult `json:"results" nullable:"false" doc:"What became of the items, in their order"`
}

type bulkRequest struct {
	Ack
	Idempotency
	RawBody []byte
}

type bulkAnswer struct {
	Propagation string `header:"Waypost-Propagation" doc:"How far the writes got"`
	Replayed    string `header:"Idempotency-Replayed" enum:"true" doc:"The call was carried out before, and these are its links: none was made now"`
	Body        BulkResults
}

func (a *API) createLinks(ctx context.Context, in *bulkRequest) (*bulkAnswer, error) {
	items, err := readItems(in.RawBody)
	if err != nil {
		return nil, err
	}
	call, err := in.call(ctx, a, in.RawBody, len(items))
	if err != nil {
		return nil, err
	}
	tokens, err := a.spend(ctx, call.freshOf(len(items)))
	if err != nil {
		return nil, err
	}
	results := make([]BulkResult, len(items))
	var inputs []*links.Input
	var places []int // of inputs among the results
	for i, raw := range items {
		if call.fresh(i) {
			if tokens == 0 {
				results[i] = a.failed(ctx, tooFast())
				continue
			}
			tokens--
		}
		input, err := readInput(raw)
		if err != nil {
			results[i] = a.failed(ctx, err)
			continue
		}
		input.Once = call.item(i)
		inputs, places = append(inputs, input), append(places, i)
	}
	outcomes, receipt, err := a.links.Bulk(ctx, callerOf(ctx), inputs, in.ack())
	if err != nil {
		return nil, err
	}
	var made, again int
	for j, o := range outcomes {
		if o.Err != nil {
			results[places[j]] = a.failed(ctx, o.Err)
			continue
		}
		if o.Replayed {
			again++
		} else {
			made++
		}
		shown := a.show(&o.Link)
		results[places[j]] = BulkResult{Status: created(o.Reused), Link: &shown}
	}
	return &bulkAnswer{Propagation: propagation(receipt), Replayed: replayed(again > 0 && made == 0), Body: BulkResults{Results: results}}, nil
}

func (a *API) failed(ctx context.Context, err error) BulkResult {
	p := a.problemOf(ctx, err)
	return BulkResult{Status: p.Status, Error: &p.Problem}
}

func readItems(raw []byte) ([]json.RawMessage, error) {
	var body bulkBody
	faults, err := decode(raw, &body)
	if err != nil {
		return nil, err
	}
	if len(faults) == 0 && (body.Items.Value == nil || len(*body.Items.Value) == 0 || len(*body.Items.Value) > links.MaxBulk) {
		faults = []link.FieldError{{Field: "items", Reason: "must be a list of 1 to " + strconv.Itoa(links.MaxBulk) + " items"}}
	}
	if len(faults) > 0 {
		return nil, faulty(faults)
	}
	return *body.Items.Value, nil
}

// bulkLimit is the largest body of a bulk creation, bodyLimit that of all else,
// in bytes.
const (
	bodyLimit = 1 << 20
	bulkLimit = 8 << 20
)
