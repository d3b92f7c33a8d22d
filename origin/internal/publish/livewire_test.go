package publish

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/origin/internal/clicks"
	"waypost/shared/click"
)

func message(data string) *nats.Msg { return &nats.Msg{Data: []byte(data)} }

// watchers are "origin link" for all that others have in view.
func (l *Live) watchers() []string {
	var all []string
	l.interests.each(time.Now(), func(origin string, link uint64) { all = append(all, fmt.Sprint(origin, " ", link)) })
	slices.Sort(all)
	return all
}

func TestLiveMessagesAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	a := clicks.Applied{Link: 1 << 60, Tally: clicks.Tally{Clicks: 1 << 44, Bots: 3}, Newest: []click.Recent{
		{At: 1_700_000_000_000_001, Region: "eu", Referrer: "a.example", Device: "mobile", Browser: "chrome", OS: "ios", Country: "DE", Bot: true},
		{At: 5},
	}}
	if got, err := parseApplied(appendApplied(a)); err != nil || !reflect.DeepEqual(got, a) {
		t.Errorf("applied = %+v, %v, want %+v", got, err, a)
	}
	w := announcement{Origin: "ABC234", Links: []uint64{1, 1<<63 + 1}}
	if got, err := parseAnnouncement(appendAnnouncement(w)); err != nil || !reflect.DeepEqual(got, w) {
		t.Errorf("announcement = %+v, %v, want %+v", got, err, w)
	}
}

func TestTheLargestLiveMessageIsAccepted(t *testing.T) {
	t.Parallel()
	largest := clicks.Applied{Link: 1, Tally: clicks.Tally{Clicks: 20}}
	for range click.MaxNewest {
		largest.Newest = append(largest.Newest, click.Recent{
			Region: strings.Repeat("r", click.MaxLabel), Referrer: strings.Repeat("<", click.MaxReferrer), // escaped to six bytes each
		})
	}
	if _, err := parseApplied(appendApplied(largest)); err != nil {
		t.Errorf("applied: %v", err)
	}
	if _, err := parseAnnouncement(appendAnnouncement(announcement{Origin: "o", Links: make([]uint64, maxLiveLinks)})); err != nil {
		t.Errorf("announcement: %v", err)
	}
}

func TestDamagedLiveMessagesAreRefused(t *testing.T) {
	t.Parallel()
	many, _ := json.Marshal(announcement{Origin: "o", Links: make([]uint64, maxLiveLinks+1)})
	for _, b := range []string{
		``, `x`, `[]`, `{}`, `{"origin":""}`, `{"origin":"a.b"}`, `{"origin":"*"}`, `{"origin":">"}`, `{"origin":"a b"}`, `{"origin":"ä"}`,
		`{"origin":"o","links":[-1]}`, `{"origin":"o","links":[1.5]}`, `{"origin":"` + strings.Repeat("o", maxOriginName+1) + `"}`, string(many),
		`{"origin":"o"}` + strings.Repeat(" ", maxLiveMessage),
	} {
		if w, err := parseAnnouncement([]byte(b)); !errors.Is(err, errLive) {
			t.Errorf("announcement %.60q = %+v, %v, want errLive", b, w, err)
		}
	}
	crowd, _ := json.Marshal(appliedMessage{Newest: make([]click.Recent, click.MaxNewest+1)})
	for _, b := range []string{``, `"x"`, `{"clicks":-1}`, `{"clicks":1,"bots":2}`, `{"newest":{}}`, string(crowd)} {
		if a, err := parseApplied([]byte(b)); !errors.Is(err, errLive) {
			t.Errorf("applied %.60q = %+v, %v, want errLive", b, a, err)
		}
	}
}

func TestInterestsAreBoundedAndExpire(t *testing.T) {
	t.Parallel()
	var in interests
	start := time.Unix(1000, 0)
	count := func(now time.Time) (n int) {
		in.each(now, func(string, uint64) { n++ })
		return n
	}
	for i := range 2 * maxWatchers {
		in.note(fmt.Sprint("o", i), []uint64{1, 2}, start)
	}
	if got, want := count(start), 2*maxWatchers; got != want {
		t.Errorf("%d interests, want %d", got, want)
	}
	later := start.Add(interestLasts - 1)
	in.note("o0", []uint64{3}, later) // known, so there is room for it
	in.note("o1", nil, later)
	if got, want := count(later), 2*(maxWatchers-2)+1; got != want {
		t.Errorf("%d interests, want %d: one changed, one gone", got, want)
	}
	if got := count(start.Add(interestLasts)); got != 1 {
		t.Errorf("%d interests, want the one that was announced again", got)
	}
	in.note("new", []uint64{4}, start.Add(interestLasts))
	if got := count(start.Add(interestLasts)); got != 2 {
		t.Errorf("%d interests, want 2: those that expired made room", got)
	}
}

func FuzzLiveMessages(f *testing.F) {
	f.Add(appendApplied(clicks.Applied{Link: 1, Tally: clicks.Tally{Clicks: 2, Bots: 1}, Newest: []click.Recent{{At: 1, Referrer: "a"}}}))
	f.Add(appendAnnouncement(announcement{Origin: "o", Links: []uint64{1}}))
	f.Add([]byte(`{"origin":"o","links":null,"newest":[{}],"clicks":1e3}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := parseApplied(b); err == nil {
			if again, err := parseApplied(appendApplied(a)); err != nil || again.Tally != a.Tally || len(again.Newest) != len(a.Newest) {
				t.Errorf("applied %+v is read as %+v, %v", a, again, err)
			}
		}
		if w, err := parseAnnouncement(b); err == nil {
			if again, err := parseAnnouncement(appendAnnouncement(w)); err != nil || !reflect.DeepEqual(again, w) {
				t.Errorf("announcement %+v is read as %+v, %v", w, again, err)
			}
		}
	})
}
