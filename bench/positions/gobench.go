package positions

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// benchmarks is what `go test -bench` says: of each benchmark, without the number of processors, and unit the values of
// all its repetitions.
type benchmarks map[string]map[string][]float64

// parseBenchmarks reads lines "BenchmarkX-2  iterations  value unit  value unit …" and skips all others.
func parseBenchmarks(in io.Reader) (benchmarks, error) {
	found := benchmarks{}
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
