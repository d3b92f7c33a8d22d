package ops_test

import (
	"log/slog"
	"testing"

	"waypost/shared/ops"
)

func TestLoggerWritesFromItsLevelUp(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]int{"debug": 4, "info": 3, "warn": 2, "error": 1, "nonsense": 3} {
		var log lines
		logger := ops.NewLogger(&log, "origin", level)
		logger.Debug("d")
		logger.Info("i")
		logger.Warn("w")
		logger.Error("e", slog.Int("n", 1))
		records := log.records(t)
		if len(records) != want {
			t.Errorf("level %s writes %d lines, want %d", level, len(records), want)
		}
		last := records[len(records)-1]
		if last["msg"] != "e" || last["service"] != "origin" || last["n"] != 1.0 {
			t.Errorf("last line = %v, want e of origin with n=1", last)
		}
	}
}
