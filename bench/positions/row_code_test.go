package positions

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"waypost/bench/measure"
)

func (m *measuring) costOfTheRule(t *testing.T) {
	const pkg = "waypost/edge/internal/redirect"
	found := measure.GoBench(t, pkg, "^BenchmarkRule$",
		"-benchtime", m.Lasting(time.Millisecond, 300*time.Millisecond).String(), "-count", strconv.Itoa(m.Times(1, 10)))
	for _, keys := range []string{"one_key", "4096_keys"} {
		with := found.Of(t, "BenchmarkRule/"+keys+"/with", "ns/op")
		without := found.Of(t, "BenchmarkRule/"+keys+"/without", "ns/op")
		allocs := found.Of(t, "BenchmarkRule/"+keys+"/with", "allocs/op")
		m.Found(t, measure.Figure{
			Name: "the rule's cost of a hit, " + keys, Unit: "repetitions of each benchmark", N: len(with),
			Values: []measure.Value{
				measure.Number("with", measure.Median(with), "ns"), measure.Number("without", measure.Median(without), "ns"),
				measure.Most("the rule", measure.Median(with)-measure.Median(without), 20, "ns"),
				measure.Most("allocations", slices.Max(allocs), 0, ""),
			},
			Method: "`go test -bench '^BenchmarkRule$' -benchmem -count 10 " + pkg + "`: a hit in L1 from the key's hash to its marking, and the " +
				"same without the rule's loads and compares, of full-sized tables. The clock read is in neither. Medians.",
		})
	}
}

func (m *measuring) modelExplored(t *testing.T) {
	writes := strconv.Itoa(m.Times(1, 3))
	began := time.Now()
	sum, err := parseModel(measure.GoTest(t, []string{"WAYPOST_MODEL_WRITES=" + writes}, "-v", "-timeout", "10m", "-run", "^TestModel$", "waypost/shared/feed"))
	if err != nil {
		t.Fatal(err)
	}
	m.Found(t, measure.Figure{
		Name: "exhaustive model of the protocol", Unit: "worlds", N: sum.worlds,
		Values: []measure.Value{
			measure.Number("writes", float64(sum.writes), ""), measure.Number("states", float64(sum.states), ""),
			measure.Most("violations", 0, 0, ""), measure.Number("took", time.Since(began).Seconds(), "s"),
		},
		Method: "`WAYPOST_MODEL_WRITES=3 go test -v -run '^TestModel$' waypost/shared/feed`, with its build. It fails at the first violation. " +
			"Of its largest world it says: “" + sum.line + "”.",
	})
}
