package api

import (
	"context"
	"time"

	"waypost/shared/click"
)

// Click is one click. Nothing of it tells who it was.
type Click struct {
	At       time.Time `json:"at" doc:"When it was"`
	Region   string    `json:"region" doc:"Of the edge that answered" example:"eu"`
	Referrer string    `json:"referrer" doc:"Host; empty: direct"`
	Device   string    `json:"device" doc:"Kind of device" example:"mobile"`
	Browser  string    `json:"browser" doc:"The browser's name" example:"firefox"`
	OS       string    `json:"os" doc:"The operating system's name" example:"android"`
	Country  string    `json:"country" doc:"ISO 3166 code; empty: unknown"`
	Bot      bool      `json:"bot" doc:"Known crawler, or prefetching"`
}

func showClick(c *click.Recent) Click {
	return Click{
		At: time.UnixMicro(c.At).UTC(), Region: c.Region, Referrer: c.Referrer,
		Device: c.Device, Browser: c.Browser, OS: c.OS, Country: c.Country, Bot: c.Bot,
	}
}

type clicksRequest struct {
	LinkPath
	Limit int `query:"limit" default:"20" minimum:"1" maximum:"100" doc:"Most clicks to answer, of the 20 that are kept"`
}

type clicksAnswer struct {
	Body []Click `nullable:"false"`
}

func (a *API) recentClicks(ctx context.Context, in *clicksRequest) (*clicksAnswer, error) {
	key, err := in.key()
	if err != nil {
		return nil, err
	}
	newest, err := a.clicks.Recent(ctx, callerOf(ctx), key, in.Limit)
	if err != nil {
		return nil, in.named(err)
	}
	out := &clicksAnswer{Body: make([]Click, len(newest))}
	for i := range newest {
		out.Body[i] = showClick(&newest[i])
	}
	return out, nil
}

func (a *API) eraseClicks(ctx context.Context, in *LinkPath) (*struct{}, error) {
	key, err := in.key()
	if err != nil {
		return nil, err
	}
	return nil, in.named(a.clicks.Erase(ctx, callerOf(ctx), key))
}
