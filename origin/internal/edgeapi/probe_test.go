package edgeapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"waypost/shared/click"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestAProbeIsHandedOnAndItsHeadsBack(t *testing.T) {
	t.Parallel()
	probe := &feed.Probe{Member: feed.Member{ID: "eu", Boot: "b"}, Epoch: 3, Applied: [feed.AllShards]uint64{4, 5}}
	heads := &feed.Heads{Epoch: 3, Now: 17, Bound: 1_000_000, Seq: [feed.AllShards]uint64{6, 5}}
	var asked *feed.Probe
	f := &fake{t: t, answer: func(_ context.Context, p *feed.Probe) (*feed.Heads, error) {
		asked = p
		return heads, nil
	}}
	w := send(t, newHandler(f, Config{}, io.Discard), http.MethodPost, "/v1/probe", string(probe.Append(nil)))
	if w.Code != http.StatusOK || w.Header().Get("Waypost-Epoch") != "3" {
		t.Errorf("status %d, epoch %q, want 200 and 3", w.Code, w.Header().Get("Waypost-Epoch"))
	}
	if !reflect.DeepEqual(asked, probe) {
		t.Errorf("asked with %+v, want %+v", asked, probe)
	}
	if got, err := feed.ParseHeads(w.Body.Bytes()); err != nil || !reflect.DeepEqual(got, heads) {
		t.Errorf("heads = %+v, %v, want %+v", got, err, heads)
	}
}

func TestHeadsOfNoEpochNameNone(t *testing.T) {
	t.Parallel()
	f := &fake{t: t, answer: func(context.Context, *feed.Probe) (*feed.Heads, error) { return &feed.Heads{}, nil }}
	probe := feed.Probe{Member: feed.Member{ID: "eu", Boot: "b"}, Leaving: true}
	w := send(t, newHandler(f, Config{}, io.Discard), http.MethodPost, "/v1/probe", string(probe.Append(nil)))
	if _, named := w.Header()["Waypost-Epoch"]; w.Code != http.StatusOK || named {
		t.Errorf("status %d, names an epoch: %v, want 200 and none", w.Code, named)
	}
}

func TestAnAcknowledgementIsHandedOn(t *testing.T) {
	t.Parallel()
	ack := &feed.Ack{Member: feed.Member{ID: "eu", Boot: "b"}, Epoch: 3, Positions: []feed.Position{{Shard: 64, Seq: 9}}}
	var got *feed.Ack
	f := &fake{t: t, ack: func(a *feed.Ack) { got = a }}
	w := send(t, newHandler(f, Config{}, io.Discard), http.MethodPost, "/v1/ack", string(ack.Append(nil)))
	if w.Code != http.StatusOK || w.Body.Len() != 0 {
		t.Errorf("status %d, body %q, want 200 without one", w.Code, w.Body)
	}
	if !reflect.DeepEqual(got, ack) {
		t.Errorf("acknowledged %+v, want %+v", got, ack)
	}
}

func TestBodiesThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	h := newHandler(&fake{t: t}, Config{}, io.Discard)
	probe := feed.Probe{Member: feed.Member{ID: "eu", Boot: "b"}}
	for name, body := range map[string]string{
		"none": "", "text": "hello", "cut short": string(probe.Append(nil)[:20]), "overlong": string(probe.Append(nil)) + "x",
		"a name too long": string((&feed.Probe{Member: feed.Member{ID: strings.Repeat("x", 65), Boot: "b"}}).Append(nil)),
		"no name":         string((&feed.Probe{}).Append(nil)), "too large": strings.Repeat("x", maxProbe+1),
	} {
		want := http.StatusBadRequest
		if len(body) > maxProbe {
			want = http.StatusRequestEntityTooLarge
		}
		for _, path := range []string{"/v1/probe", "/v1/ack"} {
			if w := send(t, h, http.MethodPost, path, body); w.Code != want {
				t.Errorf("%s: %s: status %d, want %d", path, name, w.Code, want)
			}
		}
	}
}

func TestErrorsOfProbesBecomeStatuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		err  error
		want int
		logs bool
	}{
		{"unavailable", fmt.Errorf("joins: %w", link.ErrUnavailable), http.StatusServiceUnavailable, true},
		{"a name that cannot be stored", &link.InvalidError{}, http.StatusBadRequest, false},
		{"anything else", errors.New("syntax error"), http.StatusInternalServerError, true},
	} {
		var log bytes.Buffer
		f := &fake{t: t, answer: func(context.Context, *feed.Probe) (*feed.Heads, error) { return nil, tc.err }}
		probe := feed.Probe{Member: feed.Member{ID: "eu", Boot: "b"}}
		w := send(t, newHandler(f, Config{}, &log), http.MethodPost, "/v1/probe", string(probe.Append(nil)))
		if w.Code != tc.want || (log.Len() > 0) != tc.logs {
			t.Errorf("%s: status %d, log %q, want %d, logged %v", tc.name, w.Code, log.String(), tc.want, tc.logs)
		}
	}
}

func FuzzBody(f *testing.F) {
	probe := feed.Probe{Member: feed.Member{ID: "eu", Boot: "b"}, Epoch: 1}
	ack := feed.Ack{Member: feed.Member{ID: "eu", Boot: "b"}, Epoch: 1, Positions: []feed.Position{{Shard: 64, Seq: 1}}}
	paths := []string{"/v1/probe", "/v1/ack", "/v1/clicks"}
	f.Add(byte(0), probe.Append(nil))
	f.Add(byte(1), ack.Append(nil))
	f.Add(byte(2), aStretch().Append(nil))
	f.Fuzz(func(t *testing.T, path byte, body []byte) {
		member := func(m feed.Member) {
			if m.ID == "" || m.Boot == "" || len(m.ID) > 64 || len(m.Boot) > 64 {
				t.Errorf("member %q was let through", m)
			}
		}
		fk := &fake{
			t: t,
			answer: func(_ context.Context, p *feed.Probe) (*feed.Heads, error) {
				member(p.Member)
				return &feed.Heads{}, nil
			},
			ack: func(a *feed.Ack) {
				member(a.Member)
				for _, p := range a.Positions {
					if p.Shard < 0 || p.Shard >= feed.AllShards {
						t.Errorf("shard %d was let through", p.Shard)
					}
				}
			},
			stretch: func(_ context.Context, s *click.Stretch) (uint64, bool, error) {
				if s.Boot == "" || len(s.Boot) > click.MaxLabel || s.From > s.To {
					t.Errorf("stretch of %q from %d to %d was let through", s.Boot, s.From, s.To)
				}
				return s.To, true, nil
			},
		}
		target := paths[int(path)%len(paths)]
		if w := send(t, newHandler(fk, Config{}, t.Output()), http.MethodPost, target, string(body)); w.Code >= 500 {
			t.Errorf("%s: status %d", target, w.Code)
		}
	})
}
