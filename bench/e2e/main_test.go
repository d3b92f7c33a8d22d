package e2e

import (
	"maps"
	"os"
	"testing"

	"go.uber.org/goleak"

	"waypost/bench/fleet"
)

// binaries are those in the folder WAYPOST_TEST_BIN, an absolute path, or built at their first use.
var binaries = fleet.NewBinaries(os.Getenv("WAYPOST_TEST_BIN"))

// armable are those with failpoints, in the folder WAYPOST_CHAOS_BIN.
var armable = fleet.NewBinaries(os.Getenv("WAYPOST_CHAOS_BIN"), "failpoint")

func TestMain(m *testing.M) { goleak.VerifyTestMain(fleet.Main(m, binaries, armable)) }

// start is fleet.Start with the binaries under test.
func start(t *testing.T, spec fleet.Spec) *fleet.Fleet {
	t.Helper()
	return fleet.Start(t, calm(spec))
}

// prepare is fleet.Prepare with the binaries under test.
func prepare(t *testing.T, spec fleet.Spec) *fleet.Fleet {
	t.Helper()
	return fleet.Prepare(t, calm(spec))
}

// calm is a fleet of the binaries under test whose leases outlast a moment in which a busy machine runs nothing. Where
// the bound itself is looked at, the spec sets it.
func calm(spec fleet.Spec) fleet.Spec {
	spec.Binaries = binaries
	spec.OriginEnv = withDefault(spec.OriginEnv, "WAYPOST_STALE_BOUND", "5s")
	return spec
}

func withDefault(env map[string]string, name, value string) map[string]string {
	all := map[string]string{name: value}
	maps.Copy(all, env)
	return all
}

// noErrors fails the test with the first few of many errors.
func noErrors(t *testing.T, errs []error) {
	t.Helper()
	for i, err := range errs {
		if i == 5 {
			t.Errorf("and %d more", len(errs)-i)
			return
		}
		t.Error(err)
	}
}
