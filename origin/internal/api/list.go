package api

import (
	"context"
	"net/url"

	"github.com/danielgtaylor/huma/v2"

	"waypost/origin/internal/links"
)

type listRequest struct {
	Owner  string `query:"owner" doc:"Only links of this owner; empty: of none"`
	Tag    string `query:"tag" doc:"Only links with this tag" example:"spring"`
	Search string `query:"q" doc:"Only links with this text in code, target or title, without regard to case. One or two letters are looked for among the next 5,000 links of the list only, unless a tag is given too: a page may then have fewer links than asked for, or none, and next_cursor leads on" example:"spring"`
	Domain string `query:"domain" doc:"Only links of this registered domain; empty, and _default: of the default domain"`
	Sort   string `query:"sort" enum:"created_at,-created_at,clicks" doc:"Oldest first, newest first, or most clicked first, of all time; newest first if left out. A link that is clicked while pages are read may be passed over in the last"`
	Limit  int    `query:"limit" default:"10" minimum:"1" maximum:"100" doc:"Most links to answer"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`

	given url.Values
}

// Resolve notes which parameters were given: an empty owner or domain asks for
// something, one left out does not.
func (in *listRequest) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	in.given = u.Query()
	return nil
}

func (in *listRequest) filter() links.Filter {
	f := links.Filter{Tag: in.Tag, Search: in.Search, Sort: in.Sort, Limit: in.Limit, Cursor: in.Cursor}
	if in.given.Has("owner") {
		f.Owner = &in.Owner
	}
	if in.given.Has("domain") {
		host := domainHost(in.Domain)
		f.Domain = &host
	}
	return f
}

// LinkPage is a page of links.
type LinkPage struct {
	Items      []Link  `json:"items" nullable:"false" doc:"The links of this page"`
	NextCursor *string `json:"next_cursor" nullable:"true" doc:"For the next page; null on the last"`
}

type listAnswer struct{ Body LinkPage }

func (a *API) listLinks(ctx context.Context, in *listRequest) (*listAnswer, error) {
	page, err := a.links.List(ctx, callerOf(ctx), in.filter())
	if err != nil {
		return nil, err
	}
	out := &listAnswer{Body: LinkPage{Items: make([]Link, len(page.Links)), NextCursor: shownUnlessZero(page.Next)}}
	for i := range page.Links {
		out.Body.Items[i] = a.show(&page.Links[i])
	}
	return out, nil
}
