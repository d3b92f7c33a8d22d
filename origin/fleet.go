package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"waypost/origin/internal/edges"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/origin/internal/publish"
	"waypost/shared/link"
)

// fleet is what an origin has to do with edges besides answering their fills.
type fleet struct {
	rosters *edges.Rosters
	tracker *edges.Tracker
	probes  *edges.Probes
	barrier timedBarrier
	inbox   *publish.Inbox
	sharer  *publish.Sharer
}

func (o *origin) fleet(store *postgres.Store) *fleet {
	sharer := publish.NewSharer(o.nats, o.cfg.Subjects)
	rosters, tracker := edges.NewRosters(store.Roster), edges.NewTracker(sharer)
	probes := edges.NewProbes(store, rosters, tracker)
	return &fleet{
		rosters: rosters, tracker: tracker, probes: probes,
		barrier: timedBarrier{
			Barrier: edges.NewBarrier(store, rosters, tracker, o.cfg.StaleBound),
			seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
				Name: "waypost_barrier_seconds", Help: "Time from a commit until edges were waited for.",
				Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
			}),
		},
		inbox: publish.NewInbox(o.nats, o.cfg.Subjects, o.name, publish.Rooms{
			Probes: probes, Acks: tracker.Acks(edges.ByNATS), Shared: tracker.Acks(edges.ByShare),
		}, o.logger),
		sharer: sharer,
	}
}

// timedBarrier is a barrier whose waits are measured.
type timedBarrier struct {
	*edges.Barrier
	seconds prometheus.Histogram
}

// Wait is that of the barrier.
func (b timedBarrier) Wait(ctx context.Context, committed time.Time, positions []links.Position) links.Receipt {
	r := b.Barrier.Wait(ctx, committed, positions)
	b.seconds.Observe(time.Since(committed).Seconds())
	return r
}

// prunePause is for how long what the store keeps for a time may be kept longer.
const prunePause = time.Hour

// prune has the store drop what is older than it has to be kept.
func (o *origin) prune(ctx context.Context, store *postgres.Store) error {
	for pause(ctx, jittered(prunePause)) {
		err := store.Prune(ctx)
		if err == nil || errors.Is(err, link.ErrUnavailable) || ctx.Err() != nil {
			continue // the next time will do, and the part's state has told
		}
		o.logger.LogAttrs(ctx, slog.LevelError, "old changes could not be dropped", slog.Any("error", err))
	}
	return nil
}

// saltPause is for how long a day's salt may be kept longer than the day.
const saltPause = time.Minute

// keepSalts has the store make salts for days to come and delete those of days
// that are over.
func (o *origin) keepSalts(ctx context.Context, store *postgres.Store) error {
	for pause(ctx, jittered(saltPause)) {
		err := store.KeepSalts(ctx)
		if err == nil || errors.Is(err, link.ErrUnavailable) || ctx.Err() != nil {
			continue // as in prune
		}
		o.logger.LogAttrs(ctx, slog.LevelError, "salts could not be kept", slog.Any("error", err))
	}
	return nil
}
