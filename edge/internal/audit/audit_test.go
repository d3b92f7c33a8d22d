package audit

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var key = link.Key{Code: "abc"}

// history is an outbox whose rows a test writes, two a page.
type history struct {
	rows  []*feed.Change
	epoch uint64
	err   error
	read  int // rows
}

func (h *history) Changes(_ context.Context, shard int, epoch, from uint64) (*feed.Changes, error) {
	if h.err != nil {
		return nil, h.err
	}
	page := &feed.Changes{Epoch: h.epoch, Shard: shard, Head: uint64(len(h.rows))}
	if epoch != h.epoch {
		page.Reset = true
		return page, nil
	}
	page.Rows = h.rows[from:min(int(from)+2, len(h.rows))]
	h.read += len(page.Rows)
	return page, nil
}

func (h *history) write(k link.Key, kind feed.Kind) {
	h.rows = append(h.rows, &feed.Change{Epoch: 1, Seq: uint64(len(h.rows) + 1), Kind: kind, Key: k})
}

const second = feed.Instant(time.Second)

// audit runs one sample, served at 10 s as of a position, over probes.
func audit(t *testing.T, h *history, asof uint64, probes map[feed.Instant]uint64) (Stats, string) {
	t.Helper()
	var got Stats
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		a := New(Config{
			Every: 1, Outbox: h, Bound: func() time.Duration { return time.Second },
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		for received, head := range probes {
			heads := &feed.Heads{Epoch: 1}
			heads.Seq[feed.Shard(key.Hash())] = head
			a.Probed(received, heads)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx) }()
		a.Served(&feed.Entry{Epoch: 1, AsOf: asof, Key: key}, 10*second)
		synctest.Wait()
		got = a.Stats()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return got, log.String()
}

func TestOnlyAnAnswerOlderThanTheBoundIsStale(t *testing.T) {
	t.Parallel()
	other := link.Key{Code: "other"}
	written := func(last link.Key, kind feed.Kind) *history {
		h := &history{epoch: 1}
		for range 5 {
			h.write(other, feed.Changed)
		}
		h.write(last, kind)
		return h
	}
	for _, c := range []struct {
		name   string
		h      *history
		asof   uint64
		probed feed.Instant // when position 6 was shown to exist
		want   Stats
	}{
		{"a change shown more than B before", written(key, feed.Changed), 2, 9*second - 1, Stats{Checked: 1, Stale: 1}},
		{"a purge of all shown more than B before", written(link.Key{}, feed.PurgeAll), 2, 8 * second, Stats{Checked: 1, Stale: 1}},
		{"a change shown B before", written(key, feed.Changed), 2, 9 * second, Stats{Checked: 1}},
		{"a change the answer knew of", written(key, feed.Changed), 6, 8 * second, Stats{Checked: 1}},
		{"a change of another key", written(other, feed.Changed), 2, 8 * second, Stats{Checked: 1}},
		{"an outbox that cannot be read", &history{err: errors.New("down")}, 2, 8 * second, Stats{}},
		{"another epoch by now", &history{epoch: 2}, 2, 8 * second, Stats{}},
	} {
		got, log := audit(t, c.h, c.asof, map[feed.Instant]uint64{c.probed: 6})
		if got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
		if lines := strings.Count(log, "\n"); lines != int(c.want.Stale) {
			t.Errorf("%s: got %d log lines, want %d", c.name, lines, c.want.Stale)
		}
	}
}

// An entry that nothing changed has every change of its shard since it was loaded behind it.
func TestOnlyTheLatestPositionsAreLookedThrough(t *testing.T) {
	t.Parallel()
	h := &history{epoch: 1}
	h.write(key, feed.Changed)
	for range maxRows {
		h.write(link.Key{Code: "other"}, feed.Changed)
	}
	if got, _ := audit(t, h, 0, map[feed.Instant]uint64{8 * second: maxRows + 1}); got != (Stats{Checked: 1}) || h.read != maxRows {
		t.Errorf("got %+v from %d rows, want one checked from %d", got, h.read, maxRows)
	}
}

func TestProbesAreKeptForTwiceTheBound(t *testing.T) {
	t.Parallel()
	a := New(Config{Every: 1, Bound: func() time.Duration { return time.Second }})
	for i := range 100 {
		heads := &feed.Heads{Epoch: 1}
		heads.Seq[0] = uint64(i)
		a.Probed(feed.Instant(i)*second/5, heads)
	}
	if got := len(a.probes); got < 11 || got > 13 {
		t.Errorf("kept %d probes of 5 a second, want those of 2 s", got)
	}
	if got := a.head(1, 0, 19*second); got != 94 {
		t.Errorf("head shown before 19 s: got %d, want 94", got)
	}
	if got := a.head(2, 0, 19*second); got != 0 {
		t.Errorf("head of another epoch: got %d, want 0", got)
	}
}

func TestSamplesNeverWait(t *testing.T) {
	t.Parallel()
	a := New(Config{Every: 1, Bound: func() time.Duration { return time.Second }})
	for range 2 * maxSamples {
		a.Served(&feed.Entry{Key: key}, 1)
	}
	if got := len(a.samples); got != maxSamples {
		t.Errorf("waiting: got %d, want %d", got, maxSamples)
	}
	off := New(Config{})
	off.Served(&feed.Entry{Key: key}, 1)
	off.Probed(1, &feed.Heads{})
	if len(off.samples) != 0 || len(off.probes) != 0 {
		t.Error("an auditor that is off keeps something")
	}
}
