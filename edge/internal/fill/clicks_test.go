package fill

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

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
