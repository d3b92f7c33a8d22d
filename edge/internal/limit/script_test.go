package limit

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"waypost/deploy/services"
)

func newShared(t *testing.T, client redis.UniversalClient, rate float64, burst int) *shared {
	t.Helper()
	return mustNew(t, Config{Mode: Exact, Rate: rate, Burst: burst, Redis: client, Prefix: "wp", Timeout: patience}).shared
}

func TestSharedBucketExpiresWhenItIsFull(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t).Addr())
	s := newShared(t, client, 0.1, 10)
	for n := range 3 {
		if taken, _, err := s.take(t.Context(), visitor.id()); err != nil || !taken {
			t.Fatalf("take: got %v, %v, want a token", taken, err)
		}
		ttl, err := client.PTTL(t.Context(), "wp:{203.0.113.7}:l").Result()
		if err != nil {
			t.Fatal(err)
		}
		before, full := time.Duration(n)*10*time.Second, time.Duration(n+1)*10*time.Second
		if ttl <= before || ttl > full+2*time.Millisecond {
			t.Errorf("TTL after %d tokens of 10 s each: got %v, want more than %v and at most %v", n+1, ttl, before, full)
		}
	}
}

func TestSharedBucketIsFreshAfterItExpired(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t).Addr())
	s := newShared(t, client, 1000, 5)
	if _, _, err := s.take(t.Context(), visitor.id()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no key in Redis", func() bool {
		n, err := client.DBSize(t.Context()).Result()
		return err == nil && n == 0
	})
}

func TestReadingASharedBucketMakesNone(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t).Addr())
	s := newShared(t, client, 1, 5)
	debits := []debit{{key: s.key(visitor.id())}}
	if err := s.charge(t.Context(), debits); err != nil {
		t.Fatal(err)
	}
	if got := debits[0].credit; got != 5_000_000 {
		t.Errorf("credit of an unknown client: got %d µs, want the 5,000,000 of a full bucket", got)
	}
	if n, err := client.DBSize(t.Context()).Result(); err != nil || n != 0 {
		t.Errorf("keys: got %d, %v, want none", n, err)
	}
}

func TestChargeLeadsIntoDebtAndTakeDoesNot(t *testing.T) {
	t.Parallel()
	s := newShared(t, connect(t, services.Redis(t).Addr()), 0.01, 10) // 100 s a token
	const token, moment = int64(100_000_000), int64(99_000_000)
	debits := []debit{{key: s.key(visitor.id()), tokens: 25}}
	if err := s.charge(t.Context(), debits); err != nil {
		t.Fatal(err)
	}
	if got := debits[0].credit; got != -15*token {
		t.Errorf("credit after 25 of 10 tokens: got %d µs, want %d", got, -15*token)
	}
	taken, credit, err := s.take(t.Context(), visitor.id())
	if err != nil || taken {
		t.Errorf("take from a bucket in debt: got %v, %v, want no token", taken, err)
	}
	if credit < -15*token || credit > -15*token+moment {
		t.Errorf("credit after a refused take: got %d µs, want %d and what time added", credit, -15*token)
	}
}

// A clock of Redis that goes back, as after a failover, makes nobody wait for
// the time it went back, and what a key of another make holds is a full bucket.
func TestSharedBucketSurvivesWhatItFinds(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t).Addr())
	s := newShared(t, client, 1, 10) // 1,000,000 µs a token
	now, err := client.Time(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	ahead := now.Add(time.Hour).UnixMicro()
	tests := []struct {
		name, held string
		least      int64
	}{
		{"four tokens spent by a clock an hour ahead", fmt.Sprintf("%d %d", ahead+4_000_000, ahead), 6_000_000},
		{"unreadable", "nonsense", 10_000_000},
		{"empty", "", 10_000_000},
	}
	for _, tt := range tests {
		if err := client.Set(t.Context(), s.key(visitor.id()), tt.held, time.Minute).Err(); err != nil {
			t.Fatal(err)
		}
		debits := []debit{{key: s.key(visitor.id())}}
		if err := s.charge(t.Context(), debits); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := debits[0].credit; got < tt.least || got > 10_000_000 {
			t.Errorf("%s: got a credit of %d µs, want %d to 10,000,000", tt.name, got, tt.least)
		}
	}
}

func TestScriptIsSentAgainWhenRedisForgotIt(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t).Addr())
	s := newShared(t, client, 0.01, 10)
	for round := range 3 {
		if err := client.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if taken, _, err := s.take(t.Context(), visitor.id()); err != nil || !taken {
			t.Errorf("take in round %d: got %v, %v, want a token", round, taken, err)
		}
		if err := client.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		debits := []debit{{key: s.key(network(1).id()), tokens: 1}, {key: s.key(network(2).id()), tokens: 2}}
		if err := s.charge(t.Context(), debits); err != nil {
			t.Fatalf("charge in round %d: %v", round, err)
		}
		for i, d := range debits {
			spent := int64(i+1) * int64(round+1)
			if got := 10 - d.credit/s.interval; got != spent {
				t.Errorf("client %d after round %d: got %d tokens charged, want %d", i+1, round, got, spent)
			}
		}
	}
}
