package e2e

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"waypost/bench/fleet"
	"waypost/deploy/services"
)

// binaries are those in the folder WAYPOST_TEST_BIN, an absolute path, or built at their first use.
var binaries = fleet.NewBinaries(os.Getenv("WAYPOST_TEST_BIN"))

func TestMain(m *testing.M) { goleak.VerifyTestMain(services.Main(cleaned{m})) }

// cleaned removes what was built once the tests have run.
type cleaned struct{ tests services.TestRun }

func (c cleaned) Run() int {
	defer binaries.Remove() //nolint:errcheck // a folder of the system's temporary ones
	return c.tests.Run()
}

// start is fleet.Start with the binaries under test.
func start(t *testing.T, spec fleet.Spec) *fleet.Fleet {
	t.Helper()
	spec.Binaries = binaries
	return fleet.Start(t, spec)
}

// prepare is fleet.Prepare with the binaries under test.
func prepare(t *testing.T, spec fleet.Spec) *fleet.Fleet {
	t.Helper()
	spec.Binaries = binaries
	return fleet.Prepare(t, spec)
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
