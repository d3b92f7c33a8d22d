package api

import (
	"context"
)

// TopLink is a link in the list of those with the most clicks.
type TopLink struct {
	Code   string `json:"code" doc:"The link's code" example:"spring-sale"`
	Domain string `json:"domain" doc:"Empty: the default domain"`
	Clicks uint64 `json:"clicks" doc:"On that day, those of bots included"`
}

type topRequest struct {
	Day   string `query:"day" doc:"A date; today if left out" example:"2030-01-02"`
	Limit int    `query:"limit" default:"10" minimum:"1" maximum:"100" doc:"Most links to answer"`
}

type topAnswer struct {
	Body []TopLink `nullable:"false"`
}

func (a *API) topLinks(ctx context.Context, in *topRequest) (*topAnswer, error) {
	top, err := a.clicks.Top(ctx, callerOf(ctx), in.Day, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &topAnswer{Body: make([]TopLink, len(top))}
	for i, l := range top {
		out.Body[i] = TopLink{Code: l.Key.Code, Domain: l.Key.Domain, Clicks: l.Clicks}
	}
	return out, nil
}
