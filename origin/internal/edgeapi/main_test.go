package edgeapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"waypost/shared/click"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "s3cret"

// fake stands in for all rooms. A function that is nil fails the test when it is
// called.
type fake struct {
	t       *testing.T
	load    func(ctx context.Context, key link.Key, epoch, minSeq uint64) (*feed.Entry, error)
	heads   func(ctx context.Context) (*feed.Heads, error)
	answer  func(ctx context.Context, p *feed.Probe) (*feed.Heads, error)
	ack     func(a *feed.Ack)
	changes func(ctx context.Context, shard int, epoch, from uint64) (*feed.Changes, error)
	codes   func(ctx context.Context, shard int, after link.Key) (*feed.Codes, error)
	config  func(ctx context.Context) (*feed.Config, error)
	stretch func(ctx context.Context, s *click.Stretch) (uint64, bool, error)
	use     func(ctx context.Context, key link.Key) (*feed.Use, error)
	applied func(s *click.Stretch)
}

func (f *fake) ApplyStretch(ctx context.Context, s *click.Stretch) (uint64, bool, error) {
	if f.stretch == nil {
		f.t.Errorf("ApplyStretch(%+v) was called", s)
		return 0, false, link.ErrUnavailable
	}
	return f.stretch(ctx, s)
}

func (f *fake) Use(ctx context.Context, key link.Key) (*feed.Use, error) {
	if f.use == nil {
		f.t.Errorf("Use(%s) was called", key)
		return nil, link.ErrUnavailable
	}
	return f.use(ctx, key)
}

func (f *fake) Load(ctx context.Context, key link.Key, epoch, minSeq uint64) (*feed.Entry, error) {
	if f.load == nil {
		f.t.Errorf("Load(%s, %d, %d) was called", key, epoch, minSeq)
		return nil, link.ErrUnavailable
	}
	return f.load(ctx, key, epoch, minSeq)
}

func (f *fake) Heads(ctx context.Context) (*feed.Heads, error) {
	if f.heads == nil {
		f.t.Error("Heads was called")
		return nil, link.ErrUnavailable
	}
	return f.heads(ctx)
}

func (f *fake) Answer(ctx context.Context, p *feed.Probe) (*feed.Heads, error) {
	if f.answer == nil {
		f.t.Errorf("Answer(%+v) was called", p)
		return nil, link.ErrUnavailable
	}
	return f.answer(ctx, p)
}

func (f *fake) Ack(a *feed.Ack) {
	if f.ack == nil {
		f.t.Errorf("Ack(%+v) was called", a)
		return
	}
	f.ack(a)
}

func (f *fake) Changes(ctx context.Context, shard int, epoch, from uint64) (*feed.Changes, error) {
	if f.changes == nil {
		f.t.Errorf("Changes(%d, %d, %d) was called", shard, epoch, from)
		return nil, link.ErrUnavailable
	}
	return f.changes(ctx, shard, epoch, from)
}

func (f *fake) Codes(ctx context.Context, shard int, after link.Key) (*feed.Codes, error) {
	if f.codes == nil {
		f.t.Errorf("Codes(%d, %s) was called", shard, after)
		return nil, link.ErrUnavailable
	}
	return f.codes(ctx, shard, after)
}

func (f *fake) Config(ctx context.Context) (*feed.Config, error) {
	if f.config == nil {
		f.t.Error("Config was called")
		return nil, link.ErrUnavailable
	}
	return f.config(ctx)
}

// newHandler is a handler with the test's secret whose log goes to w.
func newHandler(f *fake, cfg Config, w io.Writer) http.Handler {
	cfg.Secret, cfg.Logger = secret, slog.New(slog.NewTextHandler(w, nil))
	return New(cfg, f.rooms())
}

func (f *fake) rooms() Rooms {
	return Rooms{Fills: f, Probes: f, Acks: f, Feeds: f, Config: f, Clicks: f, Applied: f.applied}
}

// get asks as an edge does.
func get(t *testing.T, h http.Handler, target string) *httptest.ResponseRecorder {
	t.Helper()
	return send(t, h, http.MethodGet, target, "")
}

// send asks with a body.
func send(t *testing.T, h http.Handler, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+secret)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
