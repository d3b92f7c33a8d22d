package feed

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"testing"
)

// modelWrites is how many writes the worlds have: 2, which the race detector
// can bear, unless WAYPOST_MODEL_WRITES asks for more.
func modelWrites(t *testing.T) int {
	t.Helper()
	asked := os.Getenv("WAYPOST_MODEL_WRITES")
	if asked == "" {
		return 2
	}
	n, err := strconv.Atoi(asked)
	if err != nil || n < 1 || n > 5 {
		t.Fatalf("WAYPOST_MODEL_WRITES is %q, want 1 to 5", asked)
	}
	return n
}

// In every interleaving of these worlds no unmarked answer is older than what
// was committed before its lease began, no answer is older than one given
// before it was asked for, and none is known to be changed.
func TestModel(t *testing.T) {
	t.Parallel()
	writes := modelWrites(t)
	all := []event{setA, deleteA, purgeA, purgeAll, setB}
	sets := []event{setA, setB}
	for _, c := range []struct {
		name string
		in   world
	}{
		{"a live link", world{ops: all, first: live, degraded: true, resets: true}},
		{"no row", world{ops: all, first: noRow, degraded: true, waits: true}},
		{"a tombstone", world{ops: all, first: tombstone, degraded: true}},
		{"a tombstone removed", world{ops: []event{setA, deleteA}, first: live, forgets: true}},
		{"another slot", world{ops: all, first: live, slots: 2}},
		{"shared fills", world{ops: []event{setA, setB, deleteA}, first: live, fills: true}},
		{"two requests at once", world{ops: sets, first: live, readers: 2, writes: writes - 1}},
		{"restart", world{ops: []event{setA}, first: live, saves: true, restarts: 1}},
		{"restart and resets", world{ops: sets, first: live, saves: true, restarts: 1, resets: true, writes: writes - 1}},
		{"restart without a file", world{ops: []event{setA, setB, deleteA}, first: live, restarts: 1, degraded: true}},
		{"a new epoch", world{ops: sets, first: live, restores: 1}},
		{"a new epoch and fills", world{ops: []event{setA}, first: live, restores: 1, fills: true, writes: writes - 1}},
		{"a start without an origin", world{ops: []event{setA, deleteA}, first: live, restores: 1, degraded: true, adopts: true, writes: writes - 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := c.in
			if w.writes == 0 {
				w.writes = writes
			}
			w.slots, w.readers = max(w.slots, 1), max(w.readers, 1)
			done := explore(w, production())
			if done.fault != "" {
				t.Fatal(done)
			}
			t.Logf("%d writes, %d histories, %d states", w.writes, len(done.all), len(done.seen))
		})
	}
}

// The model takes the production code's steps by itself, so the order in which
// the production code takes them must be the model's.
func TestProductionTakesItsStepsInTheModelsOrder(t *testing.T) {
	t.Parallel()
	s := production()
	for _, c := range []struct {
		file, function string
		want           []string
	}{
		{"view.go", "View", names(s.load)},
		{"table.go", "Apply", names(s.apply)},
		{"table.go", "Reset", append([]string{"storeState"}, names(s.within)...)},
		{"table.go", "stateAt", []string{"storeBase", "storeApplied"}},
		{"save.go", "copyState", names(s.copy)},
	} {
		if got := calls(t, c.file, c.function, c.want); !slices.Equal(got, c.want) {
			t.Errorf("%s in %s: got %v, want %v", c.function, c.file, got, c.want)
		}
	}
}

// calls are the calls of the named functions in a method's body, as they stand.
func calls(t *testing.T, file, method string, of []string) (found []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != method || f.Recv == nil {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if fun, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(of, fun.Sel.Name) {
					found = append(found, fun.Sel.Name)
				}
			}
			return true
		})
	}
	return found
}
