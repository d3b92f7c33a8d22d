package positions

import (
	"slices"
	"strings"
	"testing"
)

func TestBenchmarksAreReadWithAllRepetitions(t *testing.T) {
	t.Parallel()
	got, err := parseBenchmarks(strings.NewReader("goos: linux\nBenchmarkRule/one_key/with-2 \t 100 \t 50.5 ns/op \t 1 B/op \t 0 allocs/op\n" +
		"BenchmarkRule/one_key/with-2 100 52 ns/op 1 B/op 0 allocs/op\nPASS\nok \twaypost\t1s\n"))
	if err != nil {
		t.Fatal(err)
	}
	if ns := got["BenchmarkRule/one_key/with"]["ns/op"]; !slices.Equal(ns, []float64{50.5, 52}) {
		t.Errorf("got %v, want 50.5 and 52 ns/op", got)
	}
	if _, err := parseBenchmarks(strings.NewReader("BenchmarkRule-2 100 fast ns/op\n")); err == nil {
		t.Error("a line that is no benchmark's was read")
	}
}

func TestTheModelsWordsAreAddedUp(t *testing.T) {
	t.Parallel()
	got, err := parseModel(strings.NewReader("=== RUN   TestModel\n    model_test.go:65: 3 writes, 4 histories, 682445 states\n" +
		"    model_test.go:70: 2 writes, 13 histories, 1420435 states\n    other_test.go:1: 2 writes and more\n--- PASS: TestModel (0.00s)\n"))
	want := explored{worlds: 2, states: 2102880, writes: 3, line: "2 writes, 13 histories, 1420435 states"}
	if err != nil || got != want {
		t.Errorf("got %+v, error %v, want %+v", got, err, want)
	}
}
