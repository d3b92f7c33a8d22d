package measure

import (
	"slices"
	"strings"
	"testing"
)

func TestBenchmarksAreReadWithAllRepetitions(t *testing.T) {
	t.Parallel()
	got, err := ParseBenchmarks(strings.NewReader("goos: linux\nBenchmarkRule/one_key/with-2 \t 100 \t 50.5 ns/op \t 1 B/op \t 0 allocs/op\n" +
		"BenchmarkRule/one_key/with-2 100 52 ns/op 1 B/op 0 allocs/op\nPASS\nok \twaypost\t1s\n"))
	if err != nil {
		t.Fatal(err)
	}
	if ns := got["BenchmarkRule/one_key/with"]["ns/op"]; !slices.Equal(ns, []float64{50.5, 52}) {
		t.Errorf("got %v, want 50.5 and 52 ns/op", got)
	}
	if _, err := ParseBenchmarks(strings.NewReader("BenchmarkRule-2 100 fast ns/op\n")); err == nil {
		t.Error("a line that is no benchmark's was read")
	}
}
