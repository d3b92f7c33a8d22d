package edgeapi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waypost/shared/click"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// aStretch has no clicks but two orphans.
func aStretch() *click.Stretch {
	return &click.Stretch{Boot: "b", Region: "eu", From: 7, To: 9, Last: true, Orphans: []click.HourCount{{Hour: 5, Count: 2}}}
}

func TestAStretchIsHandedOnAndTheMarkBack(t *testing.T) {
	t.Parallel()
	for _, applied := range []bool{true, false} {
		var asked, told *click.Stretch
		f := &fake{
			t: t,
			stretch: func(_ context.Context, s *click.Stretch) (uint64, bool, error) {
				asked = s
				return 1 << 40, applied, nil
			},
			applied: func(s *click.Stretch) { told = s },
		}
		w := send(t, newHandler(f, Config{}, io.Discard), http.MethodPost, "/v1/clicks", string(aStretch().Append(nil)))
		if w.Code != http.StatusOK || w.Body.Len() != 8 || binary.BigEndian.Uint64(w.Body.Bytes()) != 1<<40 {
			t.Errorf("applied %v: status %d, body %x, want 200 and the mark", applied, w.Code, w.Body)
		}
		if !reflect.DeepEqual(asked, aStretch()) {
			t.Errorf("applied %v: asked with %+v, want %+v", applied, asked, aStretch())
		}
		if (told != nil) != applied {
			t.Errorf("applied %v: told of %+v", applied, told)
		}
	}
}

func TestStretchesThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	good := string(aStretch().Append(nil))
	h := newHandler(&fake{t: t}, Config{}, io.Discard)
	for name, tc := range map[string]struct {
		body string
		want int
	}{
		"none":       {"", http.StatusBadRequest},
		"cut short":  {good[:len(good)-1], http.StatusBadRequest},
		"overlong":   {good + "x", http.StatusBadRequest},
		"as large":   {strings.Repeat("x", click.MaxStretch), http.StatusBadRequest},
		"too large":  {strings.Repeat("x", click.MaxStretch+1), http.StatusRequestEntityTooLarge},
		"not a boot": {string((&click.Stretch{To: 1}).Append(nil)), http.StatusBadRequest},
	} {
		if w := send(t, h, http.MethodPost, "/v1/clicks", tc.body); w.Code != tc.want {
			t.Errorf("%s: status %d, want %d", name, w.Code, tc.want)
		}
	}
}

func TestFewStretchesAreCountedAtATimeAndSomeWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		var mu sync.Mutex
		now, peak := 0, 0
		f := &fake{t: t, stretch: func(context.Context, *click.Stretch) (uint64, bool, error) {
			mu.Lock()
			now++
			peak = max(peak, now)
			mu.Unlock()
			<-hold
			mu.Lock()
			now--
			mu.Unlock()
			return 9, true, nil
		}}
		h := newHandler(f, Config{MaxStretches: 2}, io.Discard)
		var waiting sync.WaitGroup
		for range 2 * bodiesPerStretch {
			waiting.Go(func() {
				if w := send(t, h, http.MethodPost, "/v1/clicks", string(aStretch().Append(nil))); w.Code != http.StatusOK {
					t.Errorf("a stretch that found a place: status %d, want 200", w.Code)
				}
			})
		}
		synctest.Wait()
		w := send(t, h, http.MethodPost, "/v1/clicks", string(aStretch().Append(nil)))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("one too many: status %d, want 503 with Retry-After", w.Code)
		}
		close(hold)
		waiting.Wait()
		if peak != 2 {
			t.Errorf("%d stretches were counted at the same time, want 2", peak)
		}
	})
}

func TestAStretchMayTakeLongerThanOtherRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, stretch: func(ctx context.Context, _ *click.Stretch) (uint64, bool, error) {
			select {
			case <-time.After(9 * time.Second):
				return 9, true, nil
			case <-ctx.Done():
				return 0, false, ctx.Err()
			}
		}}
		body := string(aStretch().Append(nil))
		if w := send(t, newHandler(f, Config{}, io.Discard), http.MethodPost, "/v1/clicks", body); w.Code != http.StatusOK {
			t.Errorf("nine seconds: status %d, want 200", w.Code)
		}
		h := newHandler(f, Config{StretchTimeout: 8 * time.Second}, io.Discard)
		if w := send(t, h, http.MethodPost, "/v1/clicks", body); w.Code != http.StatusServiceUnavailable {
			t.Errorf("longer than a stretch may take: status %d, want 503", w.Code)
		}
	})
}

func TestAUseIsHandedOnAndItsVerdictBack(t *testing.T) {
	t.Parallel()
	key := link.Key{Domain: "go.example", Code: "café"}
	want := &feed.Use{Verdict: feed.UseTaken, Entry: &feed.Entry{
		Epoch: 3, AsOf: 9, Version: 8, Key: key,
		Body: feed.Body{State: feed.Enabled, LinkID: 1, Status: 302, Limited: true, Target: "https://example.com/"},
	}}
	var asked link.Key
	f := &fake{t: t, use: func(_ context.Context, key link.Key) (*feed.Use, error) {
		asked = key
		return want, nil
	}}
	h := newHandler(f, Config{}, io.Discard)
	w := send(t, h, http.MethodPost, "/v1/use?domain=go.example&code=caf%C3%A9", "")
	got, err := feed.ParseUse(w.Body.Bytes())
	if w.Code != http.StatusOK || err != nil || !reflect.DeepEqual(got, want) || w.Header().Get("Waypost-Epoch") != "3" {
		t.Errorf("status %d, epoch %q, use %+v, %v, want 200, 3 and %+v", w.Code, w.Header().Get("Waypost-Epoch"), got, err, want)
	}
	if asked != key {
		t.Errorf("asked for %v, want %v", asked, key)
	}
	if w := get(t, h, "/v1/use?code=a"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: status %d, want 405: a use is not to be fetched by chance", w.Code)
	}
	for _, target := range []string{"/v1/use", "/v1/use?code=", "/v1/use?code=a%00", "/v1/use?code=a&code=b"} {
		if w := send(t, newHandler(&fake{t: t}, Config{}, io.Discard), http.MethodPost, target, ""); w.Code != http.StatusBadRequest {
			t.Errorf("%s: status %d, want 400", target, w.Code)
		}
	}
}

func TestErrorsOfClicksBecomeStatuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		err  error
		want int
	}{
		{"unavailable", fmt.Errorf("mark: %w", link.ErrUnavailable), http.StatusServiceUnavailable},
		{"one that cannot be counted", &link.InvalidError{}, http.StatusBadRequest},
		{"anything else", errors.New("syntax error"), http.StatusInternalServerError},
	} {
		f := &fake{
			t: t,
			stretch: func(context.Context, *click.Stretch) (uint64, bool, error) {
				return 0, true, tc.err
			},
			use:     func(context.Context, link.Key) (*feed.Use, error) { return nil, tc.err },
			applied: func(*click.Stretch) { t.Errorf("%s: told that it was applied", tc.name) },
		}
		h := newHandler(f, Config{}, io.Discard)
		for target, body := range map[string]string{"/v1/clicks": string(aStretch().Append(nil)), "/v1/use?code=a": ""} {
			if w := send(t, h, http.MethodPost, target, body); w.Code != tc.want {
				t.Errorf("%s: %s: status %d, want %d", tc.name, target, w.Code, tc.want)
			}
		}
	}
}

// slowBody ends without a byte, and late.
type slowBody struct{ end <-chan struct{} }

func (b slowBody) Read([]byte) (int, error) {
	<-b.end
	return 0, io.ErrUnexpectedEOF
}

func TestAStretchThatDoesNotArriveHoldsNoTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, stretch: func(context.Context, *click.Stretch) (uint64, bool, error) { return 9, true, nil }}
		h := newHandler(f, Config{MaxStretches: 1}, io.Discard)
		ctx, hangUp := context.WithCancel(t.Context())
		var slow sync.WaitGroup
		slow.Go(func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/clicks", slowBody{ctx.Done()})
			r.Header.Set("Authorization", "Bearer "+secret)
			h.ServeHTTP(httptest.NewRecorder(), r)
		})
		synctest.Wait()
		if w := send(t, h, http.MethodPost, "/v1/clicks", string(aStretch().Append(nil))); w.Code != http.StatusOK {
			t.Errorf("beside one that does not arrive: status %d, want 200", w.Code)
		}
		hangUp()
		slow.Wait()
	})
}
