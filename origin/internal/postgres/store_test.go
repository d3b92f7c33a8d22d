package postgres_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestALinkIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	s := registered(t, newStore(t))
	l := &link.Link{
		Target: "https://example.com/a?b=c#d", Status: 307, Enabled: true, Owner: "ann", Title: "Tïtle",
		Tags: []string{"x", "y z"}, Query: link.QueryTarget, Suffix: link.SuffixAppend, Class: link.Strict, Clicks: true,
		StartsAt: time.Date(2030, 1, 2, 3, 4, 5, 678900999, time.UTC), ExpiresAt: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC),
		ExpiredURL: "https://example.com/gone", MaxClicks: 7,
	}
	key := link.Key{Domain: "go.example", Code: "café"}
	res := mustWrite(t, s, create(key, l))
	got, err := s.Link(t.Context(), key)
	if err != nil {
		t.Fatalf("Link: %v", err)
	}
	if !reflect.DeepEqual(got, res.Link) {
		t.Errorf("read:\n got %+v\nwant %+v", got, res.Link)
	}
	want := *l
	want.ID, want.Key, want.Epoch, want.Version = got.ID, key, 1, 1
	want.CreatedAt, want.UpdatedAt = got.CreatedAt, got.CreatedAt
	want.StartsAt = want.StartsAt.Truncate(time.Microsecond)
	if got.ID == 0 || got.CreatedAt.IsZero() || !reflect.DeepEqual(got, want) {
		t.Errorf("written:\n got %+v\nwant %+v", got, want)
	}
	e, err := s.Entry(t.Context(), key)
	if err != nil {
		t.Fatalf("Entry: %v", err)
	}
	pushed, ok, err := res.Change.Entry()
	if err != nil || !ok || !reflect.DeepEqual(e, pushed) {
		t.Errorf("entry:\n got %+v\nwant %+v (ok %v, err %v)", e, pushed, ok, err)
	}
}

func TestALinkLivesThroughItsVersions(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key := link.Key{Code: "life"}
	shard := feed.Shard(key.Hash())
	check := func(step string, kind feed.Kind, version uint64, state feed.State, change *feed.Change) {
		t.Helper()
		if change.Kind != kind || change.Seq != version || change.Shard != shard || change.At == 0 {
			t.Errorf("%s: change %+v, want kind %d, seq %d, shard %d", step, change, kind, version, shard)
		}
		e, err := s.Entry(t.Context(), key)
		if err != nil {
			t.Fatalf("%s: Entry: %v", step, err)
		}
		if e.State != state || e.Version != version || e.AsOf != version || e.Epoch != 1 {
			t.Errorf("%s: entry %+v, want state %d, version and asof %d, epoch 1", step, e, state, version)
		}
	}
	first := mustWrite(t, s, create(key, content("https://a.example/")))
	check("create", feed.Create, 1, feed.Enabled, first.Change)
	disabled := mustWrite(t, s, update(key, func(l *link.Link) { l.Enabled = false }))
	check("disable", feed.Changed, 2, feed.Disabled, disabled.Change)
	if disabled.Link.ID != first.Link.ID || !disabled.Link.CreatedAt.Equal(first.Link.CreatedAt) {
		t.Errorf("update made another link: %+v after %+v", disabled.Link, first.Link)
	}
	check("delete", feed.Changed, 3, feed.Absent, mustWrite(t, s, remove(key)).Change)
	if _, err := s.Link(t.Context(), key); !errors.Is(err, link.ErrNotFound) {
		t.Errorf("Link of a tombstone: %v, want ErrNotFound", err)
	}
	again := mustWrite(t, s, create(key, content("https://b.example/")))
	check("create again", feed.Changed, 4, feed.Enabled, again.Change)
	if again.Link.ID == first.Link.ID || !again.Link.CreatedAt.After(first.Link.CreatedAt) {
		t.Errorf("re-creation kept the link's identity: %+v after %+v", again.Link, first.Link)
	}
}

func TestAnUnknownKeyIsAbsentAtItsShardsHead(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key := link.Key{Code: "none"}
	other := sameShard(key, 3)
	for _, k := range other {
		mustWrite(t, s, create(k, content("https://a.example/")))
	}
	e, err := s.Entry(t.Context(), key)
	want := &feed.Entry{Epoch: 1, AsOf: 3, Key: key}
	if err != nil || !reflect.DeepEqual(e, want) {
		t.Errorf("Entry = %+v, %v, want %+v", e, err, want)
	}
	if got := s.Loads(); got != 1 {
		t.Errorf("Loads = %d, want 1", got)
	}
	if _, err := s.Link(t.Context(), key); !errors.Is(err, link.ErrNotFound) {
		t.Errorf("Link: %v, want ErrNotFound", err)
	}
}
