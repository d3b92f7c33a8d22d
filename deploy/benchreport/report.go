package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// report is one run of benchmarks on one machine.
type report struct {
	Commit  string    `json:"commit"`
	At      time.Time `json:"at"`
	Machine machine   `json:"machine"`
	Results []result  `json:"results"`
}

// machine is what `go test` and the runtime tell about it.
type machine struct {
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	CPU   string `json:"cpu"`
	Cores int    `json:"cores"`
	Go    string `json:"go"`
}

// result is one benchmark with every repetition of it: unit ("ns/op", "B/op", …) to one value a repetition.
type result struct {
	Package string               `json:"package"`
	Name    string               `json:"name"`
	Values  map[string][]float64 `json:"values"`
}

// parse reads the benchmark format: "key: value" lines about what follows, and "BenchmarkX n v unit [v unit]…".
// Everything else is skipped; a benchmark line that cannot be read is an error.
func parse(in io.Reader) (report, error) {
	var r report
	var pkg string
	index := make(map[string]int) // package and name to place in Results
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := lines.Text()
		if key, value, ok := strings.Cut(line, ": "); ok {
			switch key {
			case "goos":
				r.Machine.OS = value
			case "goarch":
				r.Machine.Arch = value
			case "cpu":
				r.Machine.CPU = value
			case "pkg":
				pkg = value
			}
		}
		fields := strings.Fields(line)
		if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		id := pkg + " " + fields[0]
		at, known := index[id]
		if !known {
			at = len(r.Results)
			index[id] = at
			r.Results = append(r.Results, result{Package: pkg, Name: fields[0], Values: make(map[string][]float64)})
		}
		for pair := range slices.Chunk(fields[2:], 2) {
			v, err := strconv.ParseFloat(pair[0], 64)
			if err != nil {
				return report{}, fmt.Errorf("line %q: %w", line, err)
			}
			r.Results[at].Values[pair[1]] = append(r.Results[at].Values[pair[1]], v)
		}
	}
	return r, lines.Err()
}

// markdown returns the report as a table of medians.
func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\nCommit %s, %s, %s/%s, %s, %d cores, %s. Medians.\n\n", r.Commit,
		r.At.Format(time.RFC3339), r.Machine.OS, r.Machine.Arch, r.Machine.CPU, r.Machine.Cores, r.Machine.Go)
	b.WriteString("| package | benchmark | values |\n|---|---|---|\n")
	for _, res := range r.Results {
		var values []string
		for _, unit := range slices.Sorted(maps.Keys(res.Values)) {
			values = append(values, strconv.FormatFloat(median(res.Values[unit]), 'g', 6, 64)+" "+unit)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", res.Package, res.Name, strings.Join(values, ", "))
	}
	return b.String()
}

// median returns the middle one of values, of two middle ones their mean. values is not empty.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}
