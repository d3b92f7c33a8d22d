package spool

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkAppend is what an append costs, in CPU time of the whole process, by
// GOMAXPROCS and the number of goroutines that append all the time.
func BenchmarkAppend(b *testing.B) {
	all := candidates()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, procs := range []int{1, 2} {
			for _, goroutines := range []int{1, 8, 64} {
				b.Run(fmt.Sprintf("%s/procs=%d/goroutines=%d", name, procs, goroutines), func(b *testing.B) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
					c := all[name](b, b.TempDir())
					defer c.close()
					payload := make([]byte, 90) // a usual click
					b.ReportAllocs()
					b.ResetTimer()
					before := cpuTime()
					share(b.N, goroutines, func() { c.append(payload) })
					b.StopTimer()
					b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
					if k, ok := c.(kept); ok { // on a busy disk some are, and cost nearly nothing
						b.ReportMetric(float64(k.Stats().Held)/float64(b.N), "held/op")
					}
				})
			}
		}
	}
}

// share runs f n times, spread over goroutines.
func share(n, goroutines int, f func()) {
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for range (n - g + goroutines - 1) / goroutines {
				f()
			}
		})
	}
	wg.Wait()
}

// cpuTime is what this process has used so far, in user and kernel mode.
func cpuTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRestart opens a folder with 256 MiB of an older log and finds its end.
func BenchmarkRestart(b *testing.B) {
	segments := make([][]string, 4)
	for i := range segments {
		segments[i] = slices.Repeat([]string{string(make([]byte, 90))}, 64<<20/int(frameBytes(90)))
	}
	dir, _ := older(b, segments)
	for b.Loop() {
		s, err := Open(Config{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		if got := s.Logs()[0].End(); got < 255<<20 {
			b.Fatalf("got an end of %d bytes", got)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead reads 64 MiB of frames.
func BenchmarkRead(b *testing.B) {
	dir, _ := older(b, [][]string{slices.Repeat([]string{string(make([]byte, 90))}, 64<<20/int(frameBytes(90)))})
	s, err := Open(Config{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing was written
	l := s.Logs()[0]
	b.SetBytes(int64(l.End()))
	for b.Loop() {
		if to, err := l.Read(0, int(l.End()), func(uint64, []byte) error { return nil }); to != l.End() || err != nil {
			b.Fatalf("read to %d, %v", to, err)
		}
	}
}
