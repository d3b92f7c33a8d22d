package chaos

import (
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"waypost/bench/fleet"
	"waypost/deploy/services"
)

// bin are the binaries with failpoints in the folder WAYPOST_CHAOS_BIN, an absolute path, or built at their first use.
var bin = fleet.NewBinaries(os.Getenv("WAYPOST_CHAOS_BIN"), "failpoint")

func TestMain(m *testing.M) { goleak.VerifyTestMain(services.Main(cleaned{m})) }

// cleaned removes what was built once the tests have run.
type cleaned struct{ tests services.TestRun }

func (c cleaned) Run() int {
	defer bin.Remove() //nolint:errcheck // a folder of the system's temporary ones
	return c.tests.Run()
}

// seed is WAYPOST_CHAOS_SEED, or drawn.
func seed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("WAYPOST_CHAOS_SEED")
	if text == "" {
		return uint64(time.Now().UnixNano())
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("WAYPOST_CHAOS_SEED: %v", err)
	}
	return n
}
