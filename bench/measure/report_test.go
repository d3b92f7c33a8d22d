package measure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAReportSaysWhatWasMissed(t *testing.T) {
	t.Parallel()
	r := Report{
		Name: "positions", Command: "make positions", Commit: "abc", Machine: ThisMachine(), Settings: []string{"As it was."},
		Figures: []Figure{
			{Name: "kept", Unit: "changes", N: 9, Row: "near/a", Method: "So.", Values: []Value{Most("p99", 2.5, 10, "ms"), Least("share", 99.95, 99.9, "%")}},
			{Name: "missed", Unit: "changes", N: 9, Row: "near/a", Method: "So.", Values: []Value{Number("p50", 1, "ms"), Most("p99", 10.4999, 10, "ms")}},
			{Name: "too little", Unit: "reads", N: 9, Row: "near/b", Method: "Thus.", Values: []Value{Least("share", 99.8, 99.9, "%")}},
			{Name: "of nothing", Unit: "reads", Row: "near/b", Method: "Thus.", Values: []Value{Most("max", 0, 1, "")}},
			{Name: "in turns", Unit: "hits", N: 9, Row: "near/b", Method: "Thus.", Values: []Value{Most("CPU", 0, 5, "µs").Of([]float64{4, 4.5, 3.5})}},
			{Name: "no bar", Unit: "reads", N: 1, Row: "near/b", Method: "Thus.", Values: []Value{Number("states", 19971201, "")}},
		},
	}
	dir := t.TempDir()
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "positions.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# Positions\n",
		"| kept | p99 ≤ 10 ms, share ≥ 99.9 % | p99 2.5 ms, share 99.95 % | 9 changes | met | `make positions ROWS=near/a` |",
		"| missed | p99 ≤ 10 ms | p50 1 ms, p99 10.5 ms | 9 changes | **missed** |",
		"| too little | share ≥ 99.9 % | share 99.8 % | 9 reads | **missed** |",
		"| of nothing | max ≤ 1 | max 0 | 0 reads | **missed** |",
		"| in turns | CPU ≤ 5 µs | CPU 4 µs (3.5 to 4.5) | 9 hits | met |",
		"| no bar |  | states 19971201 | 1 reads |  |",
		"- As it was.",
		"**near/a.** So.\n\n**near/b.** Thus.\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	back, err := Load(filepath.Join(dir, "positions.json"))
	if err != nil {
		t.Fatal(err)
	}
	if back.Commit != "abc" || len(back.Figures) != 6 || back.Figures[1].Values[1].Got != 10.4999 || back.Machine.Cores < 1 {
		t.Errorf("got %+v, want what was saved", back)
	}
}
