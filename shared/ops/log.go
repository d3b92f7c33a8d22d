package ops

import (
	"io"
	"log/slog"
)

// NewLogger returns a logger that writes one JSON object a line to w, each
// with the service's name. The level is debug, info, warn or error; any other
// word counts as info.
func NewLogger(w io.Writer, service, level string) *slog.Logger {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		least = slog.LevelInfo
	}
	handler := slog.NewJSONHandler(w, &slog.HandlerOptions{Level: least})
	return slog.New(handler).With(slog.String("service", service))
}
