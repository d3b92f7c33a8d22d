package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Live is a link's live view. It is one goroutine's.
type Live struct {
	in *bufio.Scanner
}

// Event is one of a live view's events. Of the two one is set.
type Event struct {
	Click *Click // one of the newest
	Sum   *Tally // of one second
}

// Live opens the live view of a link, which ends with the test.
func (a *API) Live(tb testing.TB, l Link) *Live {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	tb.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+l.part("/live", nil), nil)
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.key)
	resp, err := a.http.Transport.RoundTrip(req) // a client would end the stream with its timeout
	if err != nil {
		tb.Fatalf("live view of %s: %v", l.Code, err)
	}
	tb.Cleanup(func() { _ = resp.Body.Close() })
	if media := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || media != "text/event-stream" {
		tb.Fatalf("live view of %s: got %d %s, want 200 and a stream of events", l.Code, resp.StatusCode, media)
	}
	return &Live{in: bufio.NewScanner(resp.Body)}
}

// Next waits for the next event; there is one every second.
func (v *Live) Next() (e Event, err error) {
	name, data := "", ""
	for v.in.Scan() {
		line := v.in.Text()
		switch {
		case strings.HasPrefix(line, "event: "):
			name = strings.TrimPrefix(line, "event: ")
		case strings.HasPrefix(line, "data: "):
			data = strings.TrimPrefix(line, "data: ")
		case line == "" && name == "click":
			e.Click = &Click{}
			return e, json.Unmarshal([]byte(data), e.Click)
		case line == "" && name == "clicks":
			e.Sum = &Tally{}
			return e, json.Unmarshal([]byte(data), e.Sum)
		default:
			return e, fmt.Errorf("line %q of a live view", line)
		}
	}
	return e, fmt.Errorf("the live view ended: %w", v.in.Err())
}
