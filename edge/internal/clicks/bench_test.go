package clicks

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"waypost/edge/internal/clicks/spool"
)

// BenchmarkStretches adds up a log of clicks on many links and makes the bytes
// of the stretches. A short one has few clicks.
func BenchmarkStretches(b *testing.B) {
	for name, links := range map[string]int{"1 link": 1, "100 links": 100, "10000 links": 10_000} {
		b.Run(name, func(b *testing.B) {
			s, err := spool.Open(spool.Config{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			ctx, stop := context.WithCancel(b.Context())
			done := make(chan error, 1)
			go func() { done <- s.Run(ctx) }()
			clicks := 500_000
			if testing.Short() {
				clicks = 5_000
			}
			var writers sync.WaitGroup
			for w := range 64 {
				writers.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(w), 9))
					for range clicks / 64 {
						r := visit(uint64(rng.IntN(links)), rng.IntN(1_000_000))
						r.At = 1_790_000_000_000_000
						for payload := r.Append(nil); ; runtime.Gosched() {
							if _, o := s.Append(payload); o != spool.Refused {
								break
							}
						}
					}
				})
			}
			writers.Wait()
			stop()
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			logs := s.Logs()
			log := logs[len(logs)-1]
			builder := newBuilder(nil)
			builder.pace.Hurry()
			var bytes, stretches int
			var counted uint64
			b.ReportAllocs()
			b.ResetTimer()
			before := processor(b)
			for range b.N {
				for from := uint64(0); from < log.End(); {
					done, err := builder.build(log, from, math.MaxUint64, 0, most{clicks: stretchClicks, bytes: stretchBytes})
					if err != nil {
						b.Fatal(err)
					}
					stretch := builder.sum.stretch("eu")
					stretch.Boot, stretch.From, stretch.To = "b", from, done.to
					bytes += len(stretch.Append(nil))
					counted += stretch.Clicks()
					stretches++
					from = done.to
				}
			}
			b.StopTimer()
			b.ReportMetric(float64(counted)/(processor(b)-before).Seconds(), "clicks/cpu-s")
			b.ReportMetric(float64(bytes)/float64(counted), "bytes/click")
			b.ReportMetric(float64(stretches)/float64(b.N), "stretches")
			b.ReportMetric(float64(log.Bytes())/float64(clicks), "disk/click")
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// processor is how much time of processors this process has used.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
