package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// BlockCreate is the body of a block.
type BlockCreate struct {
	Host field[string] `json:"host" required:"true" nullable:"false" maxLength:"1024" doc:"A host name, in ASCII or Unicode, or an IP address; without port" example:"phish.example"`
	Kind field[string] `json:"kind" required:"false" enum:"exact,suffix" doc:"Whether the host alone is blocked, or every host below it too. Left out or null: exact" example:"suffix"`
	Note field[string] `json:"note" required:"false" maxLength:"256" doc:"For people. Left out or null: empty" example:"reported on Monday"`
}

// Block is a blocked host as it is answered.
type Block struct {
	Host      string    `json:"host" doc:"The host, as hosts of targets are compared with it: in ASCII and lower case, an address in its shortest form" example:"phish.example"`
	Kind      string    `json:"kind" enum:"exact,suffix" doc:"Whether the host alone is blocked, or every host below it too" example:"suffix"`
	Note      string    `json:"note" doc:"For people" example:"reported on Monday"`
	Source    string    `json:"source" enum:"api,file" doc:"Who blocks it: this API, or the operator's file, which alone can unblock it" example:"api"`
	CreatedAt time.Time `json:"created_at" doc:"When it was made" example:"2030-01-02T15:04:05Z"`
}

func showBlock(b *links.Block) Block {
	return Block{Host: b.Host, Kind: b.Kind, Note: b.Note, Source: string(b.Source), CreatedAt: b.At}
}

type createBlockRequest struct {
	Ack
	RawBody []byte
}

type createBlockAnswer struct {
	Status      int
	Location    string `header:"Location" doc:"Where the API answers for the block"`
	Propagation string `header:"Waypost-Propagation" doc:"How far the write got"`
	Body        Block
}

func (a *API) createBlock(ctx context.Context, in *createBlockRequest) (*createBlockAnswer, error) {
	var body BlockCreate
	faults, err := decode(in.RawBody, &body)
	switch {
	case err != nil:
		return nil, err
	case len(faults) > 0:
		return nil, faulty(faults)
	}
	written, err := a.links.PutBlock(ctx, &links.BlockInput{Host: body.Host.Field, Kind: body.Kind.Field, Note: body.Note.Field}, in.ack())
	if err != nil {
		return nil, err
	}
	b := &written.Block
	return &createBlockAnswer{
		Status: created(!written.New), Location: (&url.URL{Path: prefix + "/blocks/" + b.Host}).String(),
		Propagation: propagation(written.Receipt), Body: showBlock(b),
	}, nil
}

// BlockPage is a page of blocks.
type BlockPage struct {
	Items      []Block `json:"items" nullable:"false" doc:"The blocks of this page"`
	NextCursor *string `json:"next_cursor" nullable:"true" doc:"For the next page; null on the last"`
}

type listBlocksAnswer struct{ Body BlockPage }

func (a *API) listBlocks(ctx context.Context, in *Page) (*listBlocksAnswer, error) {
	after, err := in.after()
	if err != nil {
		return nil, err
	}
	found, next, err := a.links.Blocks(ctx, after, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &listBlocksAnswer{Body: BlockPage{Items: make([]Block, len(found)), NextCursor: nextCursor(next)}}
	for i := range found {
		out.Body.Items[i] = showBlock(&found[i])
	}
	return out, nil
}

// BlockPath names a block.
type BlockPath struct {
	Host string `path:"host" doc:"The blocked host, percent-encoded" example:"phish.example"`
}

// named says what it was that is not there. Other errors it returns as they are.
func (p BlockPath) named(err error) error {
	if errors.Is(err, link.ErrNotFound) {
		return newProblem(http.StatusNotFound, fmt.Sprintf("the host %q is not blocked", shorten(p.Host)))
	}
	return err
}

type getBlockAnswer struct{ Body Block }

func (a *API) getBlock(ctx context.Context, in *BlockPath) (*getBlockAnswer, error) {
	b, err := a.links.Block(ctx, in.Host)
	if err != nil {
		return nil, in.named(err)
	}
	return &getBlockAnswer{Body: showBlock(&b)}, nil
}

type deleteBlockRequest struct {
	BlockPath
	Ack
}

func (a *API) deleteBlock(ctx context.Context, in *deleteBlockRequest) (*deleteAnswer, error) {
	receipt, err := a.links.DeleteBlock(ctx, in.Host, in.ack())
	if err != nil {
		return nil, in.named(err)
	}
	return &deleteAnswer{Propagation: propagation(receipt)}, nil
}
