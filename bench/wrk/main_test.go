package wrk

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"waypost/bench/fleet"
	"waypost/deploy/services"
)

// binDir is the folder of the binaries, an absolute path; "": they are built at their first use.
var binDir = os.Getenv("WAYPOST_TEST_BIN")

var binaries = fleet.NewBinaries(binDir)

func TestMain(m *testing.M) { goleak.VerifyTestMain(services.Main(cleaned{m})) }

// cleaned removes what was built once the tests have run.
type cleaned struct{ tests services.TestRun }

func (c cleaned) Run() int {
	defer binaries.Remove() //nolint:errcheck // a folder of the system's temporary ones
	return c.tests.Run()
}
