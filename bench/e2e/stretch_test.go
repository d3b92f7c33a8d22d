package e2e

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/shared/click"
	"waypost/shared/feed"
)

// Stretches of one log are sent in any order, again and again, by several senders, to two origins, and some of them as
// part of a longer one: each counts once.
func TestStretchCountsOnceHoweverOftenItIsSentAndByWhom(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{Origins: 2})
	c := count(t, f)
	l := c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/stretch"})
	id := c.idOf(t, l)
	const stretches, senders, bytes = 20, 6, 100
	hour := click.HourOf(time.Now().UnixMicro())
	// of is the stretch of the parts from the i-th to before the j-th; the n-th part has n + 1 clicks.
	of := func(i, j uint64) []byte {
		s := click.Stretch{Boot: "of-a-test", Region: "eu", From: i * bytes, To: j * bytes}
		h := click.Hour{Hour: hour}
		for n := i; n < j; n++ {
			h.Clicks += n + 1
		}
		for d, value := range []string{"eu", "", "", "", "desktop", "firefox", "linux"} {
			h.Parts = append(h.Parts, click.Part{Dimension: click.Dimension(d), Value: value, Clicks: h.Clicks})
		}
		s.Links = []click.LinkClicks{{Link: id, Hours: []click.Hour{h}}}
		return s.Append(nil)
	}
	var all sync.WaitGroup
	for n := range senders {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 1))
			for {
				from := random.Uint64N(stretches)
				to := min(stretches, from+1+random.Uint64N(3))
				mark, err := hand(t.Context(), f.Origins[random.IntN(2)], of(from, to))
				if err != nil || mark%bytes != 0 || mark > stretches*bytes {
					t.Errorf("mark %d, %v", mark, err)
					return
				}
				if mark == stretches*bytes {
					return
				}
				// One that is due, unless another sender has been faster with a longer one.
				due := mark / bytes
				if _, err = hand(t.Context(), f.Origins[n%2], of(due, min(stretches, due+1+random.Uint64N(3)))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	const total = stretches * (stretches + 1) / 2
	c.has(t, l, total, 0)
	for _, lost := range []uint64{0, 7, stretches + 5} {
		if mark, err := hand(t.Context(), f.Origins[0], of(lost, lost+1)); err != nil || mark != stretches*bytes {
			t.Errorf("a stretch from %d: got mark %d, %v, want %d", lost*bytes, mark, err, stretches*bytes)
		}
	}
	c.has(t, l, total, 0)
	for name, garbage := range map[string][]byte{"nothing": {}, "noise": []byte("no stretch at all"), "half": of(stretches, stretches+1)[:20]} {
		if code, body, err := f.Origins[0].Post(t.Context(), "/v1/clicks", garbage); err != nil || code != http.StatusBadRequest {
			t.Errorf("%s: got %d %s, %v, want 400", name, code, body, err)
		}
	}
}

// hand hands a stretch over and returns the origin's mark.
func hand(ctx context.Context, o *fleet.Origin, stretch []byte) (mark uint64, err error) {
	code, body, err := o.Post(ctx, "/v1/clicks", stretch)
	switch {
	case err != nil:
		return 0, err
	case code != http.StatusOK || len(body) != 8:
		return 0, fmt.Errorf("%s: status %d: %q", o.Name, code, body)
	}
	return binary.BigEndian.Uint64(body), nil
}

// idOf asks as an edge does.
func (c *counting) idOf(t *testing.T, l fleet.Link) uint64 {
	t.Helper()
	query := url.Values{"domain": {l.Domain}, "code": {l.Code}, "epoch": {"0"}, "min": {"0"}}
	code, body, err := c.Origins[0].Ask(t.Context(), "/v1/fill?"+query.Encode())
	if err != nil || code != http.StatusOK {
		t.Fatalf("fill: %d %s, %v", code, body, err)
	}
	e, err := feed.ParseEntry(body)
	if err != nil {
		t.Fatal(err)
	}
	return e.LinkID
}
