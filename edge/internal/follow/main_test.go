package follow

import (
	"testing"

	"go.uber.org/goleak"

	"waypost/deploy/services"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(services.Main(m)) }
