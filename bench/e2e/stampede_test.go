package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"waypost/bench/fleet"
)

// stampede is two origins, each preferred by one of two edges, whose losers wait for 5 s.
func stampede(t *testing.T, spec fleet.Spec) *fleet.Fleet {
	t.Helper()
	spec.Origins = 2
	spec.OriginEnv = map[string]string{"WAYPOST_STAMPEDE_WAIT": "5s"}
	return start(t, spec)
}

// rush sends 500 requests for one link to two edges, each by a connection of its own, once
// all of these are open.
func rush(t *testing.T, f *fleet.Fleet, l fleet.Link) {
	t.Helper()
	const each = 250
	var open sync.WaitGroup
	open.Add(each * len(f.Edges))
	atEvery(f.Edges, func(e *fleet.Edge) {
		noErrors(t, e.Run(t.Context(), fleet.Load{
			Conns: each, N: each,
			Request: func(int) fleet.Request { return fleet.Request{Path: l.Path()} },
			Check:   func(_ int, r fleet.Reply) error { return leads(r, l.Target) },
			Ready:   func() { open.Done(); open.Wait() },
		}))
	})
}

// reads counts the origins' reads of links for fills.
func reads(t *testing.T, f *fleet.Fleet) (sum float64) {
	t.Helper()
	for _, o := range f.Origins {
		sum += o.Metric(t, "waypost_link_reads_total")
	}
	return sum
}

func TestFiveHundredColdRequestsReadPostgreSQLOnce(t *testing.T) {
	t.Parallel()
	f := stampede(t, fleet.Spec{})
	api := f.API(t)
	for i := range 3 {
		l := api.MustCreate(t, fleet.Fields{"target": targetOf("rush", i)})
		f.Settle(t)
		before := reads(t, f)
		rush(t, f, l)
		if got := reads(t, f) - before; got != 1 {
			t.Errorf("link %d: %v reads of PostgreSQL, want 1", i, got)
		}
	}
}

// fill asks an origin as an edge does.
func fill(t *testing.T, o *fleet.Origin, l fleet.Link, epoch uint64) error {
	t.Helper()
	query := url.Values{"domain": {l.Domain}, "code": {l.Code}, "epoch": {fmt.Sprint(epoch)}, "min": {"0"}}
	code, body, err := o.Ask(t.Context(), "/v1/fill?"+query.Encode())
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("%s fill: status %d: %s", o.Name, code, body)
	}
	return err
}

func TestHolderOfTheLockIsKilledOrPaused(t *testing.T) {
	t.Parallel()
	for name, hurt := range map[string]func(o *fleet.Origin){
		"Kill":  func(o *fleet.Origin) { o.Kill() },
		"Pause": func(o *fleet.Origin) { o.Pause() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := stampede(t, fleet.Spec{ProxyPostgres: true})
			api := f.APIOf(t, f.Origins[1])
			l := api.MustCreate(t, fleet.Fields{"target": targetOf("holder", 0)})
			f.Settle(t)
			holder, locks := f.Origins[0], redisOf(t, f.Redis["eu"])
			heads, err := holder.Heads(t.Context())
			if err != nil {
				t.Fatal(err)
			}

			// Its read takes so long that it is hurt in the middle.
			holder.Database.Delay(2 * time.Second)
			var asking sync.WaitGroup
			asking.Go(func() { _ = fill(t, holder, l, heads.Epoch) })
			fleet.Await(t, "the holder has the lock", func() error {
				keys, err := keysLike(t.Context(), locks, "wpo:*")
				if err == nil && len(keys) == 0 {
					err = errors.New("no key of the origins")
				}
				return err
			})
			hurt(holder)
			rush(t, f, l)

			// What the holder does when it goes on must not harm what has happened since.
			changed := api.MustPatch(t, l, fleet.Fields{"target": targetOf("holder", 1)})
			f.Settle(t)
			holder.Database.Delay(0)
			holder.Resume()
			asking.Wait()
			f.Settle(t)
			rush(t, f, changed)
		})
	}
}
