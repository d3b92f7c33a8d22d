package api

import (
	"context"
	"time"

	"waypost/origin/internal/clicks"
)

// OrphanHour are the requests of one hour for codes that do not exist.
type OrphanHour struct {
	Hour     time.Time         `json:"hour" doc:"Its beginning"`
	Total    uint64            `json:"total" doc:"Such requests in the hour"`
	ByRegion map[string]uint64 `json:"by_region" nullable:"false" doc:"Such requests by the region of the edge"`
}

// Orphans are requests for codes that do not exist. What they asked for is not
// kept.
type Orphans struct {
	From   time.Time    `json:"from" doc:"The range's beginning, as widened"`
	To     time.Time    `json:"to" doc:"The range's end, as widened, which does not belong to it"`
	Total  uint64       `json:"total" doc:"Such requests within the range"`
	ByHour []OrphanHour `json:"by_hour" nullable:"false" doc:"Every hour of the range"`
}

type orphansAnswer struct{ Body Orphans }

func (a *API) orphans(ctx context.Context, in *RangeQuery) (*orphansAnswer, error) {
	r, all, err := a.clicks.Orphans(ctx, callerOf(ctx), clicks.Period{From: in.From, To: in.To})
	if err != nil {
		return nil, err
	}
	return &orphansAnswer{Body: showOrphans(r, all)}, nil
}

// showOrphans puts in the hours that have none; all ascend by hour.
func showOrphans(r clicks.Range, all []clicks.Orphans) Orphans {
	v := Orphans{From: r.From.UTC(), To: r.To.UTC()}
	for at := v.From; at.Before(v.To); at = at.Add(time.Hour) {
		hour := OrphanHour{Hour: at, ByRegion: map[string]uint64{}}
		for ; len(all) > 0 && all[0].Hour.Equal(at); all = all[1:] {
			hour.Total += all[0].Count
			hour.ByRegion[all[0].Region] += all[0].Count
		}
		v.Total += hour.Total
		v.ByHour = append(v.ByHour, hour)
	}
	return v
}
