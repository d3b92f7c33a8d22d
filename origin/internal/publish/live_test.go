package publish

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"waypost/deploy/services"
	"waypost/origin/internal/clicks"
	"waypost/shared/click"
)

// viewing is an origin with live views.
type viewing struct {
	views *clicks.Views
	live  *Live
	stop  func()
}

func newViewing(t *testing.T, n *services.NATSServer, origin string) *viewing {
	t.Helper()
	nc := connect(t, n.URL(), func(error) {})
	v := &viewing{views: clicks.NewViews(10)}
	v.live = NewLive(nc, "wp", origin, v.views)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- v.live.Run(ctx) }()
	v.stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		done <- nil
	}
	t.Cleanup(v.stop)
	eventually(t, "subscribed", func() bool { return nc.NumSubscriptions() == 2 && nc.Flush() == nil })
	return v
}

func (v *viewing) open(t *testing.T, link uint64) *clicks.View {
	t.Helper()
	view, err := v.views.Open(link, clicks.Viewer{Key: "k"})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(view.Close)
	return view
}

// knows waits until the origin has heard what others watch.
func (v *viewing) knows(t *testing.T, want ...string) {
	t.Helper()
	eventually(t, "interest heard", func() bool { return slices.Equal(v.live.watchers(), want) })
}

// stretch has as many clicks for each of the links.
func stretch(count uint64, ids ...uint64) *click.Stretch {
	s := &click.Stretch{Boot: "b", Region: "eu", To: 1}
	for _, id := range ids {
		s.Links = append(s.Links, click.LinkClicks{
			Link: id, Hours: []click.Hour{{Hour: 1, Clicks: count, Bots: 1}},
			Newest: []click.Recent{{At: 17, Region: "eu", Referrer: "a.example", Device: "mobile", Country: "DE", Bot: true}},
		})
	}
	return s
}

func TestClicksReachTheOriginsThatHaveThemInView(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	applies, watches, idle := newViewing(t, n, "o1"), newViewing(t, n, "o2"), newViewing(t, n, "o3")
	view, other := watches.open(t, 7), watches.open(t, 8)
	applies.knows(t, "o2 7", "o2 8")

	s := stretch(3, 5, 7, 9)
	applies.live.Applied(s)
	var got clicks.Moment
	eventually(t, "clicks in view", func() bool { got = view.Moment(); return got.Clicks > 0 })
	if want := (clicks.Moment{Tally: clicks.Tally{Clicks: 3, Bots: 1}, Newest: s.Links[1].Newest}); !reflect.DeepEqual(got, want) {
		t.Errorf("moment = %+v, want %+v", got, want)
	}
	if m := other.Moment(); m.Clicks != 0 {
		t.Errorf("view of another link = %+v, want nothing", m)
	}
	if got := applies.live.Stats(); got != (LiveStats{Sent: 1}) {
		t.Errorf("stats = %+v, want one message", got)
	}
	// Nobody is sent what only it could have sent, nor what it does not watch.
	watches.live.Applied(s)
	idle.live.Applied(stretch(1, 5))
	if a, b := watches.live.Stats(), idle.live.Stats(); a != (LiveStats{}) || b != (LiveStats{}) {
		t.Errorf("stats of the others = %+v, %+v, want nothing sent", a, b)
	}
}

func TestAnInterestEndsWithTheLastViewOrWithItsOrigin(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	applies, closes, dies := newViewing(t, n, "o1"), newViewing(t, n, "o2"), newViewing(t, n, "o3")
	view := closes.open(t, 1)
	dies.open(t, 2)
	applies.knows(t, "o2 1", "o3 2")
	view.Close()
	applies.knows(t, "o3 2")
	dies.stop()
	applies.knows(t)
	applies.live.Applied(stretch(1, 1, 2))
	if got := applies.live.Stats(); got.Sent != 0 || len(applies.live.queue) != 0 {
		t.Errorf("stats = %+v, want nothing sent", got)
	}
}

func TestViewsGoOnAfterNATSWasAway(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	applies, watches := newViewing(t, n, "o1"), newViewing(t, n, "o2")
	view := watches.open(t, 1)
	applies.knows(t, "o2 1")
	n.Kill()
	eventually(t, "interest forgotten", func() bool { return len(applies.live.watchers()) == 0 })
	if err := n.Restart(t.Context()); err != nil {
		t.Fatalf("Restart: %v", err)
	}
	applies.knows(t, "o2 1")
	applies.live.Applied(stretch(2, 1))
	eventually(t, "clicks in view", func() bool { return view.Moment().Clicks == 2 })
}

func TestAppliedNeverWaitsForTheConnection(t *testing.T) {
	t.Parallel()
	l := NewLive(connect(t, "nats://127.0.0.1:1", func(error) {}), "wp", "o1", clicks.NewViews(1))
	l.heard(message(`{"origin":"o2","links":[1]}`))
	for range liveQueue + 5 {
		l.Applied(stretch(1, 1))
	}
	if got := l.Stats(); got != (LiveStats{Dropped: 5}) {
		t.Errorf("stats = %+v, want what the queue has no room for dropped", got)
	}
}

func TestDamagedMessagesAboutLiveViewsAreCounted(t *testing.T) {
	t.Parallel()
	views := clicks.NewViews(1)
	l := NewLive(connect(t, "nats://127.0.0.1:1", func(error) {}), "wp", "o1", views)
	view, err := views.Open(1, clicks.Viewer{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	l.heard(message(`{"origin":"o1","links":[1]}`)) // its own
	l.heard(message(`{"origin":"o.2","links":[1]}`))
	l.take(message(`{"link":1,"clicks":1,"bots":2}`))
	l.take(message(`{"link":1,"clicks":5,"bots":2}`))
	if got := l.Stats(); got != (LiveStats{Damaged: 2}) || len(l.watchers()) != 0 {
		t.Errorf("stats = %+v, watchers %v, want 2 damaged", got, l.watchers())
	}
	if m := view.Moment(); m.Clicks != 5 {
		t.Errorf("moment = %+v, want the 5 clicks that were right", m)
	}
}
