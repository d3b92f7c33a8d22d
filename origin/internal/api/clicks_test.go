package api_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"waypost/shared/click"
)

func TestTheNewestClicksAreShown(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.link("seen", "")
	s.apply("eu", hit{link: id, at: today(1), clicks: 30, referrer: "a.example"})
	s.apply("us", hit{link: id, at: today(0), clicks: 2, bots: 1})
	list := s.want(200, "GET", "/api/v1/links/seen/clicks", "").array
	if len(list) != 20 {
		t.Fatalf("%d clicks, want 20", len(list))
	}
	sameJSON(t, "newest", list[0], map[string]any{
		"at": today(0), "region": "us", "referrer": "", "device": "mobile", "browser": "chrome", "os": "ios", "country": "", "bot": true,
	})
	if got := list[2].(map[string]any); got["region"] != "eu" || got["referrer"] != "a.example" || got["bot"] != false {
		t.Errorf("third = %v, want yesterday's from a.example", got)
	}
	if got := s.want(200, "GET", "/api/v1/links/seen/clicks?limit=2", "").array; len(got) != 2 {
		t.Errorf("%d clicks, want the 2 asked for", len(got))
	}
}

// Who groups clicks by these names copies them from the document.
func TestTheExamplesOfAClickAreNamesThatClicksHave(t *testing.T) {
	t.Parallel()
	fields := newServer(t).document().Components.Schemas["Click"].Properties
	for field, known := range map[string]func(string) bool{
		"device":  func(name string) bool { _, ok := click.ParseDevice(name); return ok },
		"browser": func(name string) bool { _, ok := click.ParseBrowser(name); return ok },
		"os":      func(name string) bool { _, ok := click.ParseOS(name); return ok },
	} {
		examples := fields[field].Examples
		if len(examples) == 0 {
			t.Errorf("%s has no example", field)
		}
		for _, example := range examples {
			if name, _ := example.(string); !known(name) {
				t.Errorf("%s: example %v is the name of none", field, example)
			}
		}
	}
}

func TestErasedClicksAreGone(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id, other := s.link("seen", "ann"), s.link("other", "ann")
	s.apply("eu", hit{link: id, at: today(0), clicks: 5}, hit{link: other, at: today(0), clicks: 2})
	s.want(403, "DELETE", "/api/v1/links/seen/clicks", "", bearer(s.key("ann", "stats:read", "links:write")))
	s.want(204, "DELETE", "/api/v1/links/seen/clicks", "")
	s.want(204, "DELETE", "/api/v1/links/seen/clicks", "")
	s.want(404, "DELETE", "/api/v1/links/none/clicks", "")
	a := s.want(200, "GET", "/api/v1/links/seen/stats", "")
	sameJSON(t, "clicks", a.json["clicks"], map[string]int{"total": 0, "human": 0, "bot": 0})
	if a.json["unique_today"] != 0.0 || len(a.counts("by_region")) != 0 || len(s.want(200, "GET", "/api/v1/links/seen/clicks", "").array) != 0 {
		t.Errorf("something is left: %s", a.Body)
	}
	sameJSON(t, "top", s.want(200, "GET", "/api/v1/stats/top", "").array, []any{map[string]any{"code": "other", "domain": "", "clicks": 2}})
	s.apply("eu", hit{link: id, at: today(0), clicks: 1})
	a = s.want(200, "GET", "/api/v1/links/seen/stats", "")
	sameJSON(t, "clicks after it", a.json["clicks"], map[string]int{"total": 1, "human": 1, "bot": 0})
}

func TestADeletedLinksCountsStayUntilItsCodeIsTakenAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.apply("eu", hit{link: s.link("seen", "ann"), at: today(0), clicks: 5})
	s.want(204, "DELETE", "/api/v1/links/seen", "")
	ann, bob := bearer(s.key("ann", "stats:read")), bearer(s.key("bob", "stats:read"))
	count := func(want int, options ...func(*http.Request)) {
		t.Helper()
		a := s.want(200, "GET", "/api/v1/links/seen/stats", "", options...)
		sameJSON(t, "clicks", a.json["clicks"], map[string]int{"total": want, "human": want, "bot": 0})
		if got := len(s.want(200, "GET", "/api/v1/links/seen/clicks", "", options...).array); got != want {
			t.Errorf("%d clicks one by one, want %d", got, want)
		}
	}
	count(5, ann)
	count(5)
	for _, path := range []string{"stats", "clicks", "live"} {
		s.want(404, "GET", "/api/v1/links/seen/"+path, "", bob)
	}
	s.want(404, "GET", "/api/v1/links/seen/live", "", ann)
	s.link("seen", "ann")
	count(0, ann)
	s.want(404, "GET", "/api/v1/links/seen/stats", "", bob)
	s.want(204, "DELETE", "/api/v1/links/seen", "")
	s.want(204, "DELETE", "/api/v1/links/seen/clicks", "")
}

func TestOrphansAreShownByHourAndRegion(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	at := today(0)
	for region, counts := range map[string][]uint64{"eu": {7, 1}, "us": {2}} {
		stretch := &click.Stretch{Boot: "b" + region, Region: region, To: 1, Last: true}
		for i, n := range counts {
			stretch.Orphans = append(stretch.Orphans, click.HourCount{Hour: click.HourOf(at.UnixMicro()) + int64(i), Count: n})
		}
		if _, applied, err := s.store.ApplyStretch(t.Context(), stretch); err != nil || !applied {
			t.Fatalf("ApplyStretch: applied %t, %v", applied, err)
		}
	}
	clock := func(hours int) string { return at.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339) }
	a := s.want(200, "GET", "/api/v1/stats/orphans?from="+clock(-1)+"&to="+clock(2), "", bearer(s.key("", "stats:read")))
	sameJSON(t, "orphans", a.json, map[string]any{
		"from": clock(-1), "to": clock(2), "total": 10, "by_hour": []any{
			map[string]any{"hour": clock(-1), "total": 0, "by_region": map[string]int{}},
			map[string]any{"hour": clock(0), "total": 9, "by_region": map[string]int{"eu": 7, "us": 2}},
			map[string]any{"hour": clock(1), "total": 1, "by_region": map[string]int{"eu": 1}},
		},
	})
	if week := s.want(200, "GET", "/api/v1/stats/orphans", ""); len(week.list("by_hour")) != 7*24 || week.json["total"] != 10.0 {
		t.Errorf("the last seven days: %d hours, total %v, want 168 and 10", len(week.list("by_hour")), week.json["total"])
	}
}

func TestLinksAreListedByClicks(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var hits []hit
	for i, alias := range []string{"few", "none", "most", "some"} {
		if id := s.link(alias, "ann"); alias != "none" {
			hits = append(hits, hit{link: id, at: today(i * 100), clicks: map[string]uint64{"few": 1, "most": 9, "some": 5}[alias]})
		}
	}
	s.apply("eu", hits...)
	var codes []string
	for cursor := ""; ; {
		a := s.want(200, "GET", "/api/v1/links?sort=clicks&limit=3&owner=ann&cursor="+cursor, "")
		for _, item := range a.list("items") {
			codes = append(codes, item.(map[string]any)["code"].(string))
		}
		if cursor, _ = a.json["next_cursor"].(string); cursor == "" {
			break
		}
	}
	if want := []string{"most", "some", "few", "none"}; !slices.Equal(codes, want) {
		t.Errorf("codes = %v, want %v", codes, want)
	}
	s.want(422, "GET", "/api/v1/links?sort=-clicks", "")
}
