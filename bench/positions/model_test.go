package positions

import (
	"strings"
	"testing"
)

func TestTheModelsWordsAreAddedUp(t *testing.T) {
	t.Parallel()
	got, err := parseModel(strings.NewReader("=== RUN   TestModel\n    model_test.go:65: 3 writes, 4 histories, 682445 states\n" +
		"    model_test.go:70: 2 writes, 13 histories, 1420435 states\n    other_test.go:1: 2 writes and more\n--- PASS: TestModel (0.00s)\n"))
	want := explored{worlds: 2, states: 2102880, writes: 3, line: "2 writes, 13 histories, 1420435 states"}
	if err != nil || got != want {
		t.Errorf("got %+v, error %v, want %+v", got, err, want)
	}
}
