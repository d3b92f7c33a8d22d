// Client does with a generated client what programs do with links.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/oapi-codegen/nullable"

	"waypost/bench/contract/testdata/client/waypost"
)

func main() {
	if err := run(context.Background(), os.Getenv("WAYPOST"), os.Getenv("KEY")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run makes a link and changes it, and ends with the first thing that is not as it should be.
func run(ctx context.Context, server, key string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c, err := waypost.NewClientWithResponses(server, waypost.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}))
	if err != nil {
		return err
	}
	l, etag, err := create(ctx, c)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	for _, step := range []struct {
		name string
		do   func(context.Context, *waypost.ClientWithResponses, *waypost.Link, string) error
	}{{"get", get}, {"patch", patch}, {"list", list}, {"statistics", statistics}, {"delete", remove}} {
		if err := step.do(ctx, c, l, etag); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

func create(ctx context.Context, c *waypost.ClientWithResponses) (*waypost.Link, string, error) {
	a, err := c.CreateLinkWithResponse(ctx, nil, waypost.LinkCreate{
		Target: "https://example.com/a?b=c", Title: nullable.NewNullableWithValue("made"),
		Tags:   nullable.NewNullableWithValue([]string{"generated"}),
		Status: nullable.NewNullableWithValue(waypost.LinkCreateStatus(307)),
	})
	switch {
	case err != nil:
		return nil, "", err
	case a.JSON201 == nil:
		return nil, "", unexpected(a.Status(), a.Body)
	case a.JSON201.Target != "https://example.com/a?b=c" || a.JSON201.Status != 307 || a.JSON201.Title != "made" || !a.JSON201.ExpiresAt.IsNull():
		return nil, "", fmt.Errorf("made %+v", a.JSON201)
	case a.Headers201 == nil || a.Headers201.ETag == nil || a.Headers201.WaypostPropagation == nil:
		return nil, "", errors.New("the headers of the answer are missing")
	}
	return a.JSON201, *a.Headers201.ETag, nil
}

func get(ctx context.Context, c *waypost.ClientWithResponses, l *waypost.Link, etag string) error {
	a, err := c.GetLinkWithResponse(ctx, l.Code, nil)
	switch {
	case err != nil:
		return err
	case a.JSON200 == nil || a.JSON200.Version != l.Version || *a.Headers200.ETag != etag:
		return unexpected(a.Status(), a.Body)
	}
	absent, err := c.GetLinkWithResponse(ctx, "nothing-here", nil)
	switch {
	case err != nil:
		return err
	case absent.ApplicationproblemJSON404 == nil || absent.ApplicationproblemJSON404.Status != http.StatusNotFound:
		return unexpected(absent.Status(), absent.Body)
	}
	return nil
}

// patch changes the link under the condition that it is as it was made, and then once more, which must fail.
func patch(ctx context.Context, c *waypost.ClientWithResponses, l *waypost.Link, etag string) error {
	change := waypost.LinkChange{Title: nullable.NewNullNullable[string](), Tags: nullable.NewNullableWithValue([]string{"generated", "changed"})}
	condition := &waypost.ChangeLinkParams{IfMatch: &etag}
	a, err := c.ChangeLinkWithResponse(ctx, l.Code, condition, change)
	switch {
	case err != nil:
		return err
	case a.JSON200 == nil || a.JSON200.Title != "" || len(a.JSON200.Tags) != 2 || a.JSON200.Version <= l.Version:
		return unexpected(a.Status(), a.Body)
	}
	again, err := c.ChangeLinkWithResponse(ctx, l.Code, condition, change)
	switch {
	case err != nil:
		return err
	case again.ApplicationproblemJSON412 == nil:
		return unexpected(again.Status(), again.Body)
	}
	return nil
}

// list makes two links more and reads all three, a page each.
func list(ctx context.Context, c *waypost.ClientWithResponses, l *waypost.Link, _ string) error {
	item := waypost.LinkCreate{Target: "https://example.com/", Tags: nullable.NewNullableWithValue([]string{"generated"})}
	made, err := c.CreateLinksWithResponse(ctx, nil, waypost.BulkCreate{Items: []waypost.LinkCreate{item, item}})
	switch {
	case err != nil:
		return err
	case made.JSON200 == nil || len(made.JSON200.Results) != 2:
		return unexpected(made.Status(), made.Body)
	}
	tag, limit := "generated", int64(1)
	params := &waypost.ListLinksParams{Tag: &tag, Limit: &limit}
	seen := make(map[string]bool)
	for range 4 {
		page, err := c.ListLinksWithResponse(ctx, params)
		if err != nil {
			return err
		}
		if page.JSON200 == nil {
			return unexpected(page.Status(), page.Body)
		}
		for _, item := range page.JSON200.Items {
			seen[item.Code] = true
		}
		if page.JSON200.NextCursor.IsNull() {
			break
		}
		next := page.JSON200.NextCursor.MustGet()
		params.Cursor = &next
	}
	if len(seen) != 3 || !seen[l.Code] {
		return fmt.Errorf("listed %v, want three links and %s among them", seen, l.Code)
	}
	return nil
}

func statistics(ctx context.Context, c *waypost.ClientWithResponses, l *waypost.Link, _ string) error {
	a, err := c.LinkStatsWithResponse(ctx, l.Code, nil)
	switch {
	case err != nil:
		return err
	case a.JSON200 == nil || a.JSON200.Clicks.Total != 0 || len(a.JSON200.ByHour) != 24 || len(a.JSON200.ByDay) == 0:
		return unexpected(a.Status(), a.Body)
	}
	return nil
}

func remove(ctx context.Context, c *waypost.ClientWithResponses, l *waypost.Link, _ string) error {
	a, err := c.DeleteLinkWithResponse(ctx, l.Code, nil)
	switch {
	case err != nil:
		return err
	case a.StatusCode() != http.StatusNoContent:
		return unexpected(a.Status(), a.Body)
	}
	return nil
}

func unexpected(status string, body []byte) error { return fmt.Errorf("status %s: %s", status, body) }
