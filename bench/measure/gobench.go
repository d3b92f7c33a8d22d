package measure

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Benchmarks is what `go test -bench` says: of each benchmark, without the number of processors, and unit the values of
// all its repetitions.
type Benchmarks map[string]map[string][]float64

// ParseBenchmarks reads lines "BenchmarkX-2  iterations  value unit  value unit …" and skips all others.
func ParseBenchmarks(in io.Reader) (Benchmarks, error) {
	found := Benchmarks{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := fields[0]
		if at := strings.LastIndexByte(name, '-'); at > 0 {
			name = name[:at]
		}
		if found[name] == nil {
			found[name] = map[string][]float64{}
		}
		for i := 2; i < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", lines.Text(), err)
			}
			found[name][fields[i+1]] = append(found[name][fields[i+1]], v)
		}
	}
	return found, lines.Err()
}

// Of is all repetitions' values of a benchmark, which must be there.
func (b Benchmarks) Of(t *testing.T, name, unit string) []float64 {
	t.Helper()
	values := b[name][unit]
	if len(values) == 0 {
		t.Fatalf("no %s of %s in %v", unit, name, b)
	}
	return values
}

// Median is the middle one of values, which are not empty; of two the lower.
func Median(values []float64) float64 { return slices.Sorted(slices.Values(values))[(len(values)-1)/2] }
