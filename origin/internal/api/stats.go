package api

import (
	"context"
	"time"

	"waypost/origin/internal/clicks"
	"waypost/shared/click"
)

// Tally is a number of clicks: total is human and bot together.
type Tally struct {
	Total uint64 `json:"total" doc:"All of them" example:"12"`
	Human uint64 `json:"human" doc:"All but those of bots" example:"10"`
	Bot   uint64 `json:"bot" doc:"Of known crawlers and of prefetching" example:"2"`
}

func tally(t clicks.Tally) Tally {
	return Tally{Total: t.Clicks, Human: t.Clicks - t.Bots, Bot: t.Bots}
}

// DayTally are the clicks of one day.
type DayTally struct {
	Day string `json:"day" format:"date" doc:"The day, UTC" example:"2030-01-02"`
	Tally
}

// DayCount are the visitors of one day.
type DayCount struct {
	Day   string `json:"day" format:"date" doc:"The day, UTC" example:"2030-01-02"`
	Count uint64 `json:"count" doc:"Exact up to 1,000, beyond that within 2 %"`
}

// Stats are the statistics of a link. Days and hours are those of UTC; what is
// counted by something adds up to clicks.total.
type Stats struct {
	From         time.Time         `json:"from" doc:"The range's beginning, as widened"`
	To           time.Time         `json:"to" doc:"The range's end, as widened, which does not belong to it"`
	Clicks       Tally             `json:"clicks" doc:"Clicks within the range"`
	UniqueToday  uint64            `json:"unique_today" doc:"Visitors of today, whatever the range"`
	UniquesByDay []DayCount        `json:"uniques_by_day" nullable:"false" doc:"Visitors of each day that the range touches, of the whole day"`
	ByDay        []DayTally        `json:"by_day" nullable:"false" doc:"Clicks of each day, within the range"`
	ByHour       []uint64          `json:"by_hour" nullable:"false" minItems:"24" maxItems:"24" doc:"Clicks in each hour of the parameter day, zeros where hours are not kept any more"`
	ByRegion     map[string]uint64 `json:"by_region" nullable:"false" doc:"Clicks by the region of the edge that answered; other: beyond the first 1,000 values, here and below"`
	ByReferrer   map[string]uint64 `json:"by_referrer" nullable:"false" doc:"By the referrer's host; direct: none was sent"`
	ByCountry    map[string]uint64 `json:"by_country" nullable:"false" doc:"By ISO 3166 code; unknown: it could not be told"`
	ByLanguage   map[string]uint64 `json:"by_language" nullable:"false" doc:"By the visitor's first language; unknown: none was sent"`
	ByDevice     map[string]uint64 `json:"by_device" nullable:"false" doc:"By kind of device"`
	ByBrowser    map[string]uint64 `json:"by_browser" nullable:"false" doc:"By the browser's name"`
	ByOS         map[string]uint64 `json:"by_os" nullable:"false" doc:"By the operating system's name"`
}

// RangeQuery is a range of time as parameters.
type RangeQuery struct {
	From string `query:"from" doc:"Where the range begins: a date, or a time in RFC 3339; seven days before its end if left out" example:"2030-01-01"`
	To   string `query:"to" doc:"Where it ends: a date, whose day belongs to it, or a time in RFC 3339; the end of today if left out" example:"2030-01-07"`
}

type statsRequest struct {
	LinkPath
	RangeQuery
	Day string `query:"day" doc:"Day of by_hour: a date; today if left out" example:"2030-01-02"`
}

type statsAnswer struct{ Body Stats }

func (a *API) stats(ctx context.Context, in *statsRequest) (*statsAnswer, error) {
	key, err := in.key()
	if err != nil {
		return nil, err
	}
	s, err := a.clicks.Stats(ctx, callerOf(ctx), key, clicks.Period{From: in.From, To: in.To, Day: in.Day})
	if err != nil {
		return nil, in.named(err)
	}
	return &statsAnswer{Body: showStats(&s)}, nil
}

func showStats(s *clicks.Stats) Stats {
	v := Stats{
		From: s.Range.From.UTC(), To: s.Range.To.UTC(), Clicks: tally(s.Total()), UniqueToday: s.Today,
		UniquesByDay: make([]DayCount, len(s.Visitors)), ByDay: make([]DayTally, len(s.Days)), ByHour: s.Hours[:],
		ByRegion: shares(s, click.ByRegion), ByReferrer: shares(s, click.ByReferrer), ByCountry: shares(s, click.ByCountry),
		ByLanguage: shares(s, click.ByLanguage), ByDevice: shares(s, click.ByDevice), ByBrowser: shares(s, click.ByBrowser),
		ByOS: shares(s, click.ByOS),
	}
	for i, d := range s.Visitors {
		v.UniquesByDay[i] = DayCount{Day: date(d.Day), Count: d.Count}
	}
	for i, d := range s.Days {
		v.ByDay[i] = DayTally{Day: date(d.Day), Tally: tally(d.Tally)}
	}
	return v
}

// The names of what was not told.
const (
	nobody  = "unknown"
	nowhere = "direct" // for a referrer
)

func shares(s *clicks.Stats, d click.Dimension) map[string]uint64 {
	all := make(map[string]uint64)
	for _, share := range s.By(d) {
		switch {
		case share.Value != "":
			all[share.Value] += share.Clicks
		case d == click.ByReferrer:
			all[nowhere] += share.Clicks
		default:
			all[nobody] += share.Clicks
		}
	}
	return all
}

func date(t time.Time) string { return t.UTC().Format(time.DateOnly) }
