package httpd

import (
	"context"
	"sync"
	"testing"

	"github.com/valyala/fasthttp"

	"waypost/edge/internal/clicks"
	"waypost/edge/internal/clicks/spool"
	"waypost/shared/click"
)

// taker is an origin that has taken whatever it is handed.
type taker struct{}

func (taker) Clicks(_ context.Context, stretch []byte) (uint64, error) {
	s, err := click.ParseStretch(stretch)
	if err != nil {
		return 0, err
	}
	return s.To, nil
}

// BenchmarkSpooledHits is hits of many visitors at once, as a server has them,
// without counting and with all that counting takes: description, disk,
// adding up. A click waits for its turn on the disk, so that only many at once
// show what it costs.
func BenchmarkSpooledHits(b *testing.B) {
	for _, c := range []struct {
		name   string
		clicks bool
	}{{"clicks=off", false}, {"clicks=on", true}} {
		b.Run(c.name, func(b *testing.B) {
			h, first, end := hot(b, c.clicks)
			defer end()
			if c.clicks {
				defer spooled(b, h)()
			}
			b.SetParallelism(256)
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				var ctx fasthttp.RequestCtx
				ctx.Init(&first.Request, first.RemoteAddr(), nil)
				for pb.Next() {
					ctx.Response.Reset()
					h.serve(&ctx)
				}
			})
		})
	}
}

// spooled makes a handler count with a real spool, until the returned function
// is called.
func spooled(b *testing.B, h *handler) (end func()) {
	b.Helper()
	s, err := spool.Open(spool.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	counter := clicks.New(clicks.Config{Spool: s, Origin: taker{}, Folder: b.TempDir(), Clock: func() int64 { return now }})
	h.Clicks = counter
	counting, stopCounting := context.WithCancel(b.Context())
	writing, stopWriting := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.Run(writing); err != nil {
			b.Error(err)
		}
	})
	counted := make(chan error, 1)
	go func() { counted <- counter.Run(counting) }()
	return func() {
		b.StopTimer()
		stopCounting()
		if err := <-counted; err != nil {
			b.Error(err)
		}
		stopWriting()
		running.Wait()
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}
}
