package fleet

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// Tally is a number of clicks; Total includes both others.
type Tally struct {
	Total uint64 `json:"total"`
	Human uint64 `json:"human"`
	Bot   uint64 `json:"bot"`
}

// Shares are clicks by what they have in common.
type Shares map[string]uint64

// Sum is that of all shares.
func (s Shares) Sum() (sum uint64) {
	for _, n := range s {
		sum += n
	}
	return sum
}

// Stats are the statistics of a link over a range.
type Stats struct {
	From         time.Time `json:"from"`
	To           time.Time `json:"to"`
	Clicks       Tally     `json:"clicks"`
	UniqueToday  uint64    `json:"unique_today"`
	UniquesByDay []struct {
		Day   string `json:"day"`
		Count uint64 `json:"count"`
	} `json:"uniques_by_day"`
	ByDay []struct {
		Day string `json:"day"`
		Tally
	} `json:"by_day"`
	ByHour     []uint64 `json:"by_hour"`
	ByRegion   Shares   `json:"by_region"`
	ByReferrer Shares   `json:"by_referrer"`
	ByCountry  Shares   `json:"by_country"`
	ByLanguage Shares   `json:"by_language"`
	ByDevice   Shares   `json:"by_device"`
	ByBrowser  Shares   `json:"by_browser"`
	ByOS       Shares   `json:"by_os"`
}

// Click is one of the newest clicks of a link.
type Click struct {
	At       time.Time `json:"at"`
	Region   string    `json:"region"`
	Referrer string    `json:"referrer"`
	Device   string    `json:"device"`
	Browser  string    `json:"browser"`
	OS       string    `json:"os"`
	Country  string    `json:"country"`
	Bot      bool      `json:"bot"`
}

// Ranked is a link in the list of those with the most clicks.
type Ranked struct {
	Code   string `json:"code"`
	Domain string `json:"domain"`
	Clicks uint64 `json:"clicks"`
}

// Orphans are requests for codes that do not exist.
type Orphans struct {
	Total  uint64 `json:"total"`
	ByHour []struct {
		Hour     time.Time `json:"hour"`
		Total    uint64    `json:"total"`
		ByRegion Shares    `json:"by_region"`
	} `json:"by_hour"`
}

// Sum reports in how far the parts do not add up to the whole: every list of Shares to the total, the days to the total,
// and people and bots to each.
func (s Stats) Sum() error {
	if got := s.Clicks.Human + s.Clicks.Bot; got != s.Clicks.Total {
		return differs("human and bot", got, s.Clicks.Total)
	}
	var days Tally
	for _, d := range s.ByDay {
		if d.Human+d.Bot != d.Total {
			return differs("human and bot of "+d.Day, d.Tally, "their sum")
		}
		days = Tally{days.Total + d.Total, days.Human + d.Human, days.Bot + d.Bot}
	}
	if days != s.Clicks {
		return differs("sum of the days", days, s.Clicks)
	}
	for name, shares := range map[string]Shares{
		"region": s.ByRegion, "referrer": s.ByReferrer, "country": s.ByCountry, "language": s.ByLanguage,
		"device": s.ByDevice, "browser": s.ByBrowser, "os": s.ByOS,
	} {
		if got := shares.Sum(); got != s.Clicks.Total {
			return differs("sum by "+name, got, s.Clicks.Total)
		}
	}
	return nil
}

// Hours is the sum of by_hour.
func (s Stats) Hours() (sum uint64) {
	for _, n := range s.ByHour {
		sum += n
	}
	return sum
}

// Stats asks for a link's statistics, by parameters such as from, to and day.
func (a *API) Stats(ctx context.Context, l Link, query url.Values) (s Stats, err error) {
	err = a.want(ctx, http.StatusOK, http.MethodGet, l.part("/stats", query), nil, &s)
	return s, err
}

// Clicks are the newest of a link, newest first.
func (a *API) Clicks(ctx context.Context, l Link) (newest []Click, err error) {
	err = a.want(ctx, http.StatusOK, http.MethodGet, l.part("/clicks", url.Values{"limit": {"100"}}), nil, &newest)
	return newest, err
}

// Top are the links with the most clicks today, most first.
func (a *API) Top(ctx context.Context, limit int) (top []Ranked, err error) {
	err = a.want(ctx, http.StatusOK, http.MethodGet, fmt.Sprintf("/stats/top?limit=%d", limit), nil, &top)
	return top, err
}

// Orphans are those of the last seven days.
func (a *API) Orphans(ctx context.Context) (o Orphans, err error) {
	err = a.want(ctx, http.StatusOK, http.MethodGet, "/stats/orphans", nil, &o)
	return o, err
}

// EraseClicks erases what was counted of a link.
func (a *API) EraseClicks(ctx context.Context, l Link) error {
	return a.want(ctx, http.StatusNoContent, http.MethodDelete, l.part("/clicks", nil), nil, nil)
}

// part is the path of something that belongs to the link.
func (l Link) part(name string, query url.Values) string {
	all := url.Values{}
	maps.Copy(all, query)
	if l.Domain != "" {
		all.Set("domain", l.Domain)
	}
	return "/links/" + url.PathEscape(l.Code) + name + "?" + all.Encode()
}

// AwaitClicks waits until a link has at least n clicks, and returns its statistics, which must add up at any time.
func (a *API) AwaitClicks(tb testing.TB, l Link, n uint64) (s Stats) {
	tb.Helper()
	Await(tb, fmt.Sprintf("%d clicks of %s are counted", n, l.Code), func() (err error) {
		if s, err = a.Stats(tb.Context(), l, nil); err != nil {
			return err
		}
		if err := s.Sum(); err != nil {
			tb.Fatalf("%s: %v", l.Code, err)
		}
		if s.Clicks.Total < n {
			return differs("clicks", s.Clicks.Total, n)
		}
		return nil
	})
	return s
}
