package postgres_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/postgres"
	"waypost/shared/feed"
	"waypost/shared/link"
)

const limitedTarget = "https://secret.example/"

func limited(most int64) *link.Link {
	l := content(limitedTarget)
	l.MaxClicks, l.ExpiredURL = most, "https://over.example/"
	return l
}

// use asks once, and checks that the target is told with a use alone.
func use(t *testing.T, s *postgres.Store, key link.Key) feed.Verdict {
	t.Helper()
	u, err := s.Use(t.Context(), key)
	if err != nil {
		t.Fatalf("Use of %s: %v", key, err)
	}
	if told := u.Entry.Target == limitedTarget; u.Entry.Limited && told != (u.Verdict == feed.UseTaken) {
		t.Errorf("verdict %d with target %q", u.Verdict, u.Entry.Target)
	}
	if again, err := feed.ParseUse(u.Append(nil)); err != nil || again.Verdict != u.Verdict {
		t.Errorf("use %+v cannot be sent: %v", u, err)
	}
	return u.Verdict
}

func TestOneOfFiftyTakesTheLastUse(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	stores := []*postgres.Store{openStore(t, url), openStore(t, url)}
	for _, most := range []int64{1, 7} {
		key := link.Key{Code: "k" + string(rune('0'+most))}
		mustWrite(t, stores[0], create(key, limited(most)))
		var taken, used atomic.Int64
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				u, err := stores[i%2].Use(t.Context(), key)
				switch {
				case err != nil:
					t.Errorf("Use: %v", err)
				case u.Verdict == feed.UseTaken && u.Entry.Target == limitedTarget:
					taken.Add(1)
				case u.Verdict == feed.UsedUp && u.Entry.Target == "" && u.Entry.ExpiredURL == "https://over.example/":
					used.Add(1)
				default:
					t.Errorf("use %+v of %+v", u, u.Entry)
				}
			})
		}
		wg.Wait()
		if taken.Load() != most || used.Load() != 50-most {
			t.Errorf("max_clicks %d: %d uses taken, %d refused, want %d and %d", most, taken.Load(), used.Load(), most, 50-most)
		}
	}
}

func TestALimitThatIsChangedCountsAsItIs(t *testing.T) {
	t.Parallel()
	s := registered(t, newStore(t))
	key := link.Key{Domain: "go.example", Code: "k"}
	limit := func(most int64) { mustWrite(t, s, update(key, func(l *link.Link) { l.MaxClicks = most })) }
	check := func(step string, want ...feed.Verdict) {
		t.Helper()
		for i, verdict := range want {
			if got := use(t, s, key); got != verdict {
				t.Errorf("%s, use %d: verdict %d, want %d", step, i, got, verdict)
			}
		}
	}
	check("before it is there", feed.UseNone)
	mustWrite(t, s, create(key, content(limitedTarget)))
	check("without a limit", feed.UseNone, feed.UseNone)
	limit(2)
	check("limited", feed.UseTaken, feed.UseTaken, feed.UsedUp, feed.UsedUp)
	limit(3)
	check("raised", feed.UseTaken, feed.UsedUp)
	limit(1)
	check("lowered", feed.UsedUp)
	limit(0)
	check("no limit any more", feed.UseNone)
	limit(4)
	check("limited again", feed.UseTaken, feed.UsedUp)
	mustWrite(t, s, remove(key))
	check("deleted", feed.UseNone)
	mustWrite(t, s, create(key, limited(1)))
	check("made anew", feed.UseTaken, feed.UsedUp)
}

func TestNoUseIsTakenOfALinkThatIsNotLive(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	for name, change := range map[string]func(*link.Link){
		"disabled":    func(l *link.Link) { l.Enabled = false },
		"expired":     func(l *link.Link) { l.ExpiresAt = time.Now().Add(-time.Minute) },
		"not started": func(l *link.Link) { l.StartsAt = time.Now().Add(time.Hour) },
	} {
		key := link.Key{Code: name[:3]}
		mustWrite(t, s, create(key, limited(1)))
		mustWrite(t, s, update(key, change))
		if got := use(t, s, key); got != feed.UseNone {
			t.Errorf("%s: verdict %d, want %d", name, got, feed.UseNone)
		}
		mustWrite(t, s, update(key, func(l *link.Link) { l.Enabled, l.StartsAt, l.ExpiresAt = true, time.Time{}, time.Now().Add(time.Hour) }))
		if got := use(t, s, key); got != feed.UseTaken {
			t.Errorf("%s, then live: verdict %d, want %d", name, got, feed.UseTaken)
		}
	}
}

func TestTheTargetOfALimitedLinkStaysAtTheOrigin(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	key := link.Key{Code: "k"}
	change := mustWrite(t, s, create(key, limited(1))).Change
	entry, err := s.Entry(t.Context(), key)
	if err != nil || !entry.Limited || entry.Target != "" || entry.ExpiredURL == "" {
		t.Errorf("entry %+v, %v, want a limited one without target", entry, err)
	}
	pushed, ok, err := change.Entry()
	if err != nil || !ok || *pushed != *entry {
		t.Errorf("change has %+v, %v, %v, want %+v", pushed, ok, err, entry)
	}
	if n := count(t, url, `outbox WHERE position('secret'::bytea in value) > 0`); n != 0 {
		t.Errorf("%d rows of the outbox have the target", n)
	}
	if l, err := s.Link(t.Context(), key); err != nil || l.Target != limitedTarget || l.MaxClicks != 1 {
		t.Errorf("link %+v, %v, want its target and limit", l, err)
	}
	u, err := s.Use(t.Context(), key)
	if err != nil || u.Entry.AsOf != entry.AsOf || u.Entry.Version != entry.Version || u.Entry.Epoch != entry.Epoch || u.Entry.Key != key {
		t.Errorf("use of %+v, %v, want the position of %+v", u.Entry, err, entry)
	}
	mustWrite(t, s, update(key, func(l *link.Link) { l.MaxClicks = 0 }))
	if entry, err = s.Entry(t.Context(), key); err != nil || entry.Limited || entry.Target != limitedTarget {
		t.Errorf("without limit: entry %+v, %v, want its target", entry, err)
	}
}
