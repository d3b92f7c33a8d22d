package limit

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/links"
)

func TestOriginsShareTheBucketOfAKey(t *testing.T) {
	t.Parallel()
	addr := services.Redis(t).Addr()
	a, b := origin(t, addr), origin(t, addr)
	for _, step := range []struct {
		l           *Limiter
		asked, want int
	}{{a, 4, 4}, {b, 3, 3}, {a, 5, 3}, {b, 1, 0}} {
		if got := take(t, step.l, "key", slow, step.asked); got != step.want {
			t.Errorf("asked for %d: got %d, want %d", step.asked, got, step.want)
		}
	}
	if got := take(t, b, "other", slow, 20); got != 10 {
		t.Errorf("another key: got %d, want its own 10", got)
	}
	if got := a.Stats().Alone + b.Stats().Alone; got != 0 {
		t.Errorf("%d decisions without Redis, want 0", got)
	}
}

func TestOriginsTogetherGiveNoTokenTwice(t *testing.T) {
	t.Parallel()
	addr := services.Redis(t).Addr()
	allowance := links.Allowance{Rate: links.MinCreateRate, Burst: 300}
	var given atomic.Int64
	var all sync.WaitGroup
	for range 2 {
		l := origin(t, addr)
		for range 8 {
			all.Go(func() {
				for n := range 50 {
					given.Add(int64(l.Take(t.Context(), "key", allowance, 1+n%2).Tokens))
				}
			})
		}
	}
	all.Wait()
	if got := given.Load(); got != 300 {
		t.Errorf("given %d tokens, want 300", got)
	}
}

// The script and the code are the same arithmetic.
func TestRedisGivesWhatAnOriginAloneWould(t *testing.T) {
	t.Parallel()
	l := origin(t, services.Redis(t).Addr())
	for _, a := range []links.Allowance{
		slow, {Rate: links.MinCreateRate, Burst: links.MaxCreateBurst}, {Rate: 0.3, Burst: 7}, {Rate: 0.011, Burst: 1},
	} {
		key := strconv.FormatFloat(a.Rate, 'g', -1, 64) + " " + strconv.Itoa(a.Burst)
		alone := newLocal(10)
		b := bucketOf(a)
		for _, asked := range []int{1, a.Burst / 2, a.Burst, a.Burst, 1} {
			given, left := alone.take(key, b, 1, int64(asked))
			want := b.grant(given, left)
			got := l.Take(t.Context(), key, a, asked)
			// Redis' clock goes on meanwhile, by less than it takes for a token.
			if got.Tokens != want.Tokens || got.Left != want.Left || got.Wait > want.Wait || got.Wait <= want.Wait-time.Minute {
				t.Errorf("%+v, asked for %d: got %+v, want %+v", a, asked, got, want)
			}
		}
	}
}

func TestABucketComesBackWithTime(t *testing.T) {
	t.Parallel()
	l := origin(t, services.Redis(t).Addr())
	quick := links.Allowance{Rate: 200, Burst: 2}
	take(t, l, "key", quick, 2)
	eventually(t, "a token after a time", func() bool { return take(t, l, "key", quick, 1) == 1 })
}

func TestAFullBucketHasNoKeyInRedis(t *testing.T) {
	t.Parallel()
	server := services.Redis(t)
	l, client := origin(t, server.Addr()), connect(t, server.Addr())
	quick := links.Allowance{Rate: 100, Burst: 3}
	take(t, l, "the-id-of-a-key", quick, 3)
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != 1 || !strings.HasPrefix(keys[0], "wp:{k") || strings.Contains(keys[0], "the-id") {
		t.Fatalf("keys in Redis = %q, %v, want one under the prefix that does not show the id", keys, err)
	}
	if ttl, err := client.PTTL(t.Context(), keys[0]).Result(); err != nil || ttl > 32*time.Millisecond {
		t.Errorf("time to live = %v, %v, want no more than it takes to fill the bucket", ttl, err)
	}
	eventually(t, "no key", func() bool { return client.DBSize(t.Context()).Val() == 0 })
}

func TestAnotherAllowanceHoldsAtOnce(t *testing.T) {
	t.Parallel()
	l := origin(t, services.Redis(t).Addr())
	take(t, l, "key", slow, 10) // 1000 s of debt
	more := links.Allowance{Rate: links.MaxCreateRate, Burst: 5}
	eventually(t, "tokens by the new allowance, not after the old one's debt", func() bool { return take(t, l, "key", more, 1) == 1 })
	take(t, l, "less", links.Allowance{Rate: links.MinCreateRate, Burst: 100}, 50)
	if got := take(t, l, "less", slow, 10); got != 0 {
		t.Errorf("of a bucket that has become smaller than what is missing in it: got %d, want 0", got)
	}
}

func TestWhatIsNotABucketIsAFullOne(t *testing.T) {
	t.Parallel()
	server := services.Redis(t)
	l, client := origin(t, server.Addr()), connect(t, server.Addr())
	for _, value := range []string{"", "x", "nan", "-1", "1e300", "inf"} {
		if err := client.Set(t.Context(), l.shared.name("key"), value, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if got := take(t, l, "key", slow, 11); got != 10 {
			t.Errorf("value %q: got %d, want 10", value, got)
		}
	}
	// A clock that was set back leaves an empty bucket, not one that is empty for as long.
	if err := client.Set(t.Context(), l.shared.name("key"), "99999999999999999", 0).Err(); err != nil {
		t.Fatal(err)
	}
	quick := links.Allowance{Rate: 200, Burst: 2}
	eventually(t, "a token", func() bool { return take(t, l, "key", quick, 1) == 1 })
}
