package clicks_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"waypost/origin/internal/clicks"
	"waypost/shared/click"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, views *clicks.Views, link uint64) *clicks.View {
	t.Helper()
	v, err := views.Open(link, clicks.Viewer{Key: "k"})
	if err != nil {
		t.Fatalf("Open(%d): %v", link, err)
	}
	return v
}

func recents(ats ...int64) []click.Recent {
	var all []click.Recent
	for _, at := range ats {
		all = append(all, click.Recent{At: at})
	}
	return all
}

func ats(m clicks.Moment) []int64 {
	var all []int64
	for _, r := range m.Newest {
		all = append(all, r.At)
	}
	return all
}

func TestAViewAddsUpWhatIsAppliedBetweenTwoLooks(t *testing.T) {
	t.Parallel()
	views := clicks.NewViews(10)
	one, other, elsewhere := open(t, views, 7), open(t, views, 7), open(t, views, 8)
	views.Take(clicks.Applied{Link: 7, Tally: clicks.Tally{Clicks: 3, Bots: 1}, Newest: recents(30, 20, 10)})
	if m := other.Moment(); m.Clicks != 3 || m.Bots != 1 || !slices.Equal(ats(m), []int64{30, 20, 10}) {
		t.Errorf("first look = %+v, want 3 clicks, 1 bot, newest first", m)
	}
	views.TakeStretch(&click.Stretch{Links: []click.LinkClicks{
		{Link: 2, Hours: []click.Hour{{Clicks: 100}}},
		{Link: 7, Hours: []click.Hour{{Clicks: 2, Bots: 1}, {Clicks: 5}}, Newest: recents(25, 5)},
		{Link: 9, Hours: []click.Hour{{Clicks: 100}}},
	}})
	for name, c := range map[string]struct {
		view         *clicks.View
		clicks, bots uint64
		newest       []int64
	}{
		"looked at before": {other, 7, 1, []int64{25, 5}},
		"not looked at":    {one, 10, 2, []int64{30, 25, 20, 10, 5}},
		"another link":     {elsewhere, 0, 0, nil},
	} {
		if m := c.view.Moment(); m.Clicks != c.clicks || m.Bots != c.bots || !slices.Equal(ats(m), c.newest) {
			t.Errorf("%s: %+v, want %d clicks, %d bots, %v", name, m, c.clicks, c.bots, c.newest)
		}
		if m := c.view.Moment(); m.Clicks != 0 || m.Bots != 0 || m.Newest != nil {
			t.Errorf("%s: looked at again: %+v, want nothing", name, m)
		}
	}
}

func TestAViewKeepsTwentyClicksHoweverManyComeInOneMoment(t *testing.T) {
	t.Parallel()
	views := clicks.NewViews(1)
	v := open(t, views, 1)
	for i := range int64(100) {
		views.Take(clicks.Applied{Link: 1, Tally: clicks.Tally{Clicks: 1}, Newest: recents(i)})
	}
	m := v.Moment()
	if m.Clicks != 100 || len(m.Newest) != click.MaxNewest || m.Newest[0].At != 99 || m.Newest[click.MaxNewest-1].At != 80 {
		t.Errorf("%d clicks, newest %v, want 100 and 99 down to 80", m.Clicks, ats(m))
	}
}

func TestViewsAreBoundedAndAClosedOneMakesRoom(t *testing.T) {
	t.Parallel()
	views := clicks.NewViews(2)
	one := open(t, views, 1)
	open(t, views, 2)
	if _, err := views.Open(1, clicks.Viewer{Key: "k"}); !errors.Is(err, clicks.ErrCrowded) {
		t.Errorf("a third view: %v, want ErrCrowded", err)
	}
	one.Close()
	one.Close()
	open(t, views, 3)
	if _, err := views.Open(1, clicks.Viewer{Key: "k"}); !errors.Is(err, clicks.ErrCrowded) {
		t.Errorf("after closing one twice and opening one: %v, want ErrCrowded", err)
	}
	if got := views.Watched(); !slices.Equal(got, []uint64{2, 3}) || views.Len() != 2 {
		t.Errorf("watched %v in %d views, want [2 3] in 2", got, views.Len())
	}
}

func TestNeitherAKeyNorAnOwnerHasMoreThanItsShareOfViews(t *testing.T) {
	t.Parallel()
	views := clicks.NewViews(clicks.MaxViews)
	fill := func(n int, viewer clicks.Viewer) (all []*clicks.View) {
		t.Helper()
		for i := range n {
			v, err := views.Open(uint64(i), viewer)
			if err != nil {
				t.Fatalf("view %d of %+v: %v", i+1, viewer, err)
			}
			all = append(all, v)
		}
		return all
	}
	refused := func(viewer clicks.Viewer) {
		t.Helper()
		if _, err := views.Open(1, viewer); !errors.Is(err, clicks.ErrShare) {
			t.Errorf("one more of %+v: %v, want ErrShare", viewer, err)
		}
	}
	open := fill(clicks.MaxViewsEach, clicks.Viewer{Key: "free"})
	refused(clicks.Viewer{Key: "free"})
	fill(clicks.MaxViewsEach-1, clicks.Viewer{Key: "first", Owner: "ann"})
	fill(1, clicks.Viewer{Key: "second", Owner: "ann"})
	refused(clicks.Viewer{Key: "first", Owner: "ann"})
	refused(clicks.Viewer{Key: "second", Owner: "ann"})
	refused(clicks.Viewer{Key: "third", Owner: "ann"})
	fill(1, clicks.Viewer{Key: "ann", Owner: "bob"}) // a key is no owner, whatever it is called
	fill(1, clicks.Viewer{Key: "ann"})
	open[0].Close()
	open[0].Close()
	fill(1, clicks.Viewer{Key: "free"})
	refused(clicks.Viewer{Key: "free"})
}

func TestAChangeOfWhatIsWatchedIsTold(t *testing.T) {
	t.Parallel()
	views := clicks.NewViews(10)
	told := func() bool {
		select {
		case <-views.Changed():
			return true
		default:
			return false
		}
	}
	first := open(t, views, 1)
	if !told() {
		t.Error("the first view of a link was not told")
	}
	second := open(t, views, 1)
	first.Close()
	if told() {
		t.Error("told of views of a link that is watched before and after")
	}
	second.Close()
	if !told() || len(views.Watched()) != 0 {
		t.Errorf("the last view of a link was not told, or is still watched: %v", views.Watched())
	}
}

func TestViewsEndWithTheOrigin(t *testing.T) {
	t.Parallel()
	views := clicks.NewViews(10)
	v := open(t, views, 1)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := views.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	select {
	case <-v.Ended():
		t.Error("the view ended before its origin")
	default:
	}
	cancel()
	running.Wait()
	select {
	case <-v.Ended():
	default:
		t.Error("the view did not end")
	}
	if _, err := views.Open(1, clicks.Viewer{Key: "k"}); !errors.Is(err, clicks.ErrEnding) {
		t.Errorf("a view after the end: %v, want ErrEnding", err)
	}
	v.Close()
}
