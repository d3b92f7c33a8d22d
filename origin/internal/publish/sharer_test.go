package publish

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"waypost/deploy/services"
	"waypost/shared/feed"
)

func ackOf(id string, seq uint64) *feed.Ack {
	return &feed.Ack{Member: feed.Member{ID: id, Boot: "b"}, Epoch: 1, Positions: []feed.Position{{Shard: 3, Seq: seq}}}
}

func TestEveryOriginHearsWhatOneShares(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	var rooms [3]room
	for i := range rooms {
		rooms[i].answer = echo
		listen(t, n, "o"+strconv.Itoa(i), &rooms[i])
	}
	s := NewSharer(connect(t, n.URL(), func(error) {}), "wp")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	const count = 20
	for seq := range uint64(count) {
		s.Share(ackOf("eu", seq+1))
	}
	for i := range rooms {
		eventually(t, "all have come", func() bool { return len(rooms[i].acked()) == count })
		for at, a := range rooms[i].acked() {
			if want := ackOf("eu", uint64(at)+1); a.Member != want.Member || !slices.Equal(a.Positions, want.Positions) {
				t.Errorf("origin %d heard %+v, want %+v", i, a, want)
			}
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	if got, want := s.Stats(), (SharerStats{Shared: count}); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
}

func TestSharingNeverWaits(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	s := NewSharer(connect(t, n.URL(), func(error) {}), "wp") // nobody runs it
	for seq := range uint64(maxShares + 10) {
		s.Share(ackOf("eu", seq+1))
	}
	if got, want := s.Stats(), (SharerStats{Dropped: 10}); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
	n.Kill()
	eventually(t, "the connection is lost", func() bool { return !s.nc.IsConnected() })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	eventually(t, "all are dropped", func() bool { return s.Stats() == SharerStats{Dropped: maxShares + 10} })
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}
