package limit

import (
	"testing"
)

// BenchmarkAllowAsync is one client on one core, admitted and refused.
func BenchmarkAllowAsync(b *testing.B) {
	for name, cfg := range map[string]Config{
		"admitted": {Rate: maxRate, Burst: maxRate},
		"refused":  {Rate: 0.01, Burst: 1},
	} {
		b.Run(name, func(b *testing.B) {
			l, ctx := mustNew(b, cfg), b.Context()
			b.ReportAllocs()
			for b.Loop() {
				l.Allow(ctx, visitor)
			}
		})
	}
}

// BenchmarkAllowAsyncParallel is all cores, with one client and with many.
func BenchmarkAllowAsyncParallel(b *testing.B) {
	for name, clients := range map[string]int{"one client": 1, "10000 clients": 10_000, "more than fit": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			l, ctx := mustNew(b, Config{Rate: 50, Burst: 100, Table: DefaultTable}), b.Context()
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for n := 0; pb.Next(); n++ {
					l.Allow(ctx, network(n%clients))
				}
			})
		})
	}
}
