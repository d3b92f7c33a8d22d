package fill

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"waypost/shared/click"
	"waypost/shared/feed"
)

func TestClicksAreHandedOverForTheMark(t *testing.T) {
	t.Parallel()
	c := origins(t,
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		func(w http.ResponseWriter, r *http.Request) {
			if got := string(posted(t, r, "/v1/clicks")); got != "stretch" {
				t.Errorf("got body %q", got)
			}
			_, _ = w.Write([]byte{0, 0, 0, 0, 0, 0, 1, 2})
		})
	if mark, err := c.Clicks(t.Context(), []byte("stretch")); err != nil || mark != 258 {
		t.Errorf("got %d, %v, want 258", mark, err)
	}
}

func TestAMarkThatIsNoneIsAFault(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "1234567", "123456789"} {
		c := origins(t, answer([]byte(body)))
		if mark, err := c.Clicks(t.Context(), []byte("stretch")); !errors.Is(err, feed.ErrFormat) {
			t.Errorf("%q: got %d, %v", body, mark, err)
		}
	}
}

func TestAStretchIsRefusedIfAllOriginsRefuseIt(t *testing.T) {
	t.Parallel()
	says := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "stretch: has no sense", status) }
	}
	for name, tc := range map[string]struct {
		statuses []int
		want     bool
	}{
		"malformed":                        {[]int{400}, true},
		"too large":                        {[]int{413}, true},
		"invalid":                          {[]int{422}, true},
		"by all":                           {[]int{400, 422}, true},
		"by the last alone":                {[]int{503, 400}, false},
		"by the first alone":               {[]int{400, 503}, false},
		"not known who asks":               {[]int{401}, false},
		"not there: an origin of old":      {[]int{404}, false},
		"too many requests":                {[]int{429}, false},
		"a fault of the origin":            {[]int{500}, false},
		"for want of what is behind it":    {[]int{503}, false},
		"by a proxy that has lost its way": {[]int{502}, false},
	} {
		var handlers []http.HandlerFunc
		for _, status := range tc.statuses {
			handlers = append(handlers, says(status))
		}
		_, err := origins(t, handlers...).Clicks(t.Context(), []byte("stretch"))
		if got := errors.Is(err, click.ErrRefused); err == nil || got != tc.want {
			t.Errorf("%s: got %v, want refused: %v", name, err, tc.want)
		}
		if tc.want && !strings.Contains(err.Error(), "has no sense") {
			t.Errorf("%s: got %v, want the origin's reason in it", name, err)
		}
	}
}

func TestClicksWaitForAnOriginThatTakesItsTime(t *testing.T) {
	t.Parallel()
	c := origins(t, func(w http.ResponseWriter, r *http.Request) {
		wait := time.NewTimer(ioTimeout + 200*time.Millisecond) // more than any other call may take
		defer wait.Stop()
		select {
		case <-wait.C:
			_, _ = w.Write(make([]byte, 8))
		case <-r.Context().Done():
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := c.Clicks(ctx, []byte("stretch")); err != nil {
		t.Error(err)
	}
}
