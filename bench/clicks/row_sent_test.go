package clicks

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/bench/fleet"
	"waypost/bench/measure"
)

func (s *stage) stretchesSent(t *testing.T) {
	made := s.api.MustBulk(t, s.Times(100, 10_000), func(int) fleet.Fields { return fleet.Fields{"target": "https://example.com/"} })
	ids := s.ids(t, made)
	for _, size := range []struct {
		links, clicks int
		bar           float64
	}{{1, 50_000, 0}, {100, 50_000, 0}, {10_000, 80_000, 50_000}} {
		links, clicks := min(size.links, len(ids)), s.Times(1000, size.clicks)
		got := s.send(t, ids[:links], clicks, s.Times(1, 10))
		rate := measure.Number("ingest", got.rate, "clicks/s")
		if size.bar > 0 {
			rate = measure.Least("ingest", got.rate, size.bar, "clicks/s")
		}
		s.Found(t, measure.Figure{
			Name: fmt.Sprintf("ingest of two senders, %d clicks of %d links in a stretch", clicks, links), Unit: "stretches", N: got.times.N(),
			Values: []measure.Value{
				rate, measure.Number("a click", 1e6/got.rate, "µs"),
				measure.Number("answer p50", got.times.Millis(0.5), "ms"), measure.Number("max", got.times.Millis(1), "ms"),
				measure.Number("CPU of the origin", got.cpu.Seconds()*1e6/got.clicks, "µs a click"),
				measure.Number("a stretch", got.bytes/1024, "KiB"),
			},
			Method: "Stretches as two edges send them, 10 each, one after the other, to the origin's internal listener; made beforehand. All links as likely, every click another visitor's, " +
				"20 referring hosts, 8 languages, 4 kinds of browsers. From the first call to the last answer; senders, origin and PostgreSQL share the cores, and commits wait for the disk.",
		})
	}
}

// ids are the links' in PostgreSQL, ascending.
func (s *stage) ids(t *testing.T, links []fleet.Link) (ids []uint64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.Postgres.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // what was asked is here
	codes := make([]string, len(links))
	for i, l := range links {
		codes[i] = l.Code
	}
	rows, err := conn.Query(t.Context(), "SELECT link_id FROM links WHERE domain = '' AND code = ANY($1) ORDER BY link_id", codes)
	if err != nil {
		t.Fatal(err)
	}
	var id int64
	if _, err := pgx.ForEachRow(rows, []any{&id}, func() error {
		ids = append(ids, uint64(id))
		return nil
	}); err != nil || len(ids) != len(links) {
		t.Fatalf("%d links: %d ids, %v", len(links), len(ids), err)
	}
	return ids
}

// sent is what became of stretches.
type sent struct {
	times  measure.Sample // of each call
	clicks float64
	rate   float64 // a second
	bytes  float64 // of a stretch
	cpu    time.Duration
}

// stretch is one as it goes out, and where its log ends.
type stretch struct {
	bytes []byte
	to    uint64
}

// send has two senders send stretches of links.
func (s *stage) send(t *testing.T, links []uint64, clicks, each int) (got sent) {
	t.Helper()
	const senders = 2
	all := make([][]stretch, senders)
	for i := range all {
		log := NewStretches(fmt.Sprintf("sender-%d-of-%d", i, len(links)), uint64(len(links)+i), links)
		for range each {
			b, to := log.Next(clicks, time.Now())
			all[i] = append(all[i], stretch{b, to})
			got.bytes += float64(len(b)) / float64(senders*each)
		}
	}
	origin := s.Origins[0]
	before, began := origin.Metric(t, metricCPU), time.Now()
	var senderTimes [senders][]time.Duration
	var sending sync.WaitGroup
	for i, stretches := range all {
		sending.Go(func() {
			for _, one := range stretches {
				took, err := take(t.Context(), origin, one)
				if err != nil {
					t.Error(err)
					return
				}
				senderTimes[i] = append(senderTimes[i], took)
			}
		})
	}
	sending.Wait()
	took := time.Since(began)
	got.cpu = time.Duration((origin.Metric(t, metricCPU) - before) * float64(time.Second))
	got.times = measure.NewSample(append(senderTimes[0], senderTimes[1]...))
	got.clicks = float64(senders * each * clicks)
	got.rate = got.clicks / took.Seconds()
	return got
}

// take has the origin take a stretch, which must move its mark.
func take(ctx context.Context, origin *fleet.Origin, s stretch) (time.Duration, error) {
	began := time.Now()
	code, answer, err := origin.Post(ctx, "/v1/clicks", s.bytes)
	switch {
	case err != nil:
		return 0, err
	case code != http.StatusOK || len(answer) != 8 || binary.BigEndian.Uint64(answer) != s.to:
		return 0, fmt.Errorf("stretch to %d: status %d: %q", s.to, code, answer)
	}
	return time.Since(began), nil
}
