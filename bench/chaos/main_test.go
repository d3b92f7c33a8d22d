package chaos

import (
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"waypost/bench/fleet"
)

// bin are the binaries with failpoints in the folder WAYPOST_CHAOS_BIN, an absolute path, or built at their first use.
var bin = fleet.NewBinaries(os.Getenv("WAYPOST_CHAOS_BIN"), "failpoint")

func TestMain(m *testing.M) { goleak.VerifyTestMain(fleet.Main(m, bin)) }

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
