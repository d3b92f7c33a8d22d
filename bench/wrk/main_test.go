package wrk

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"waypost/bench/fleet"
)

// binDir is the folder of the binaries, an absolute path; "": they are built at their first use.
var binDir = os.Getenv("WAYPOST_TEST_BIN")

var binaries = fleet.NewBinaries(binDir)

func TestMain(m *testing.M) { goleak.VerifyTestMain(fleet.Main(m, binaries)) }
