package positions

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"
)

// goTest runs tests or benchmarks of a package without the race detector, and returns what they said.
func goTest(t *testing.T, env string, args ...string) *bytes.Buffer {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-count=1"}, args...)...)
	cmd.Env = append(os.Environ(), env)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return bytes.NewBuffer(out)
}

func (m *measuring) costOfTheRule(t *testing.T) {
	const pkg = "waypost/edge/internal/redirect"
	out := goTest(t, "", "-run", "^$", "-bench", "^BenchmarkRule$", "-benchmem",
		"-benchtime", m.lasting(time.Millisecond, 300*time.Millisecond).String(), "-count", strconv.Itoa(m.times(1, 10)), pkg)
	found, err := parseBenchmarks(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, keys := range []string{"one_key", "4096_keys"} {
		with, without := found["BenchmarkRule/"+keys+"/with"], found["BenchmarkRule/"+keys+"/without"]
		if len(with["ns/op"]) == 0 || len(without["ns/op"]) == 0 {
			t.Fatalf("%s: no benchmarks in %v", keys, found)
		}
		m.found(t, Figure{
			Name: "the rule's cost of a hit, " + keys, Unit: "repetitions of each benchmark", N: len(with["ns/op"]),
			Values: []Value{
				number("with", median(with["ns/op"]), "ns"), number("without", median(without["ns/op"]), "ns"),
				most("the rule", median(with["ns/op"])-median(without["ns/op"]), 20, "ns"),
				most("allocations", slices.Max(with["allocs/op"]), 0, ""),
			},
			Method: "`go test -bench '^BenchmarkRule$' -benchmem -count 10 " + pkg + "`: a hit in L1 from the key's hash to its marking, and the " +
				"same without the rule's loads and compares, of full-sized tables. The clock read is in neither. Medians.",
		})
	}
}

// median is the middle one of values, which are not empty; of two the lower.
func median(values []float64) float64 { return slices.Sorted(slices.Values(values))[(len(values)-1)/2] }

func (m *measuring) modelExplored(t *testing.T) {
	writes := strconv.Itoa(m.times(1, 3))
	began := time.Now()
	sum, err := parseModel(goTest(t, "WAYPOST_MODEL_WRITES="+writes, "-v", "-timeout", "10m", "-run", "^TestModel$", "waypost/shared/feed"))
	if err != nil {
		t.Fatal(err)
	}
	m.found(t, Figure{
		Name: "exhaustive model of the protocol", Unit: "worlds", N: sum.worlds,
		Values: []Value{
			number("writes", float64(sum.writes), ""), number("states", float64(sum.states), ""),
			most("violations", 0, 0, ""), number("took", time.Since(began).Seconds(), "s"),
		},
		Method: "`WAYPOST_MODEL_WRITES=3 go test -v -run '^TestModel$' waypost/shared/feed`, with its build. It fails at the first violation. " +
			"Of its largest world it says: “" + sum.line + "”.",
	})
}
