package clicks

import (
	"context"
	"log/slog"
)

// trouble tells the log when something begins to fail and when it works again.
type trouble struct {
	logger *slog.Logger
	part   string
	bad    bool
}

func (t *trouble) saw(ctx context.Context, err error) {
	switch {
	case err != nil && !t.bad:
		t.logger.LogAttrs(ctx, slog.LevelError, "clicks wait", slog.String("for", t.part), slog.Any("error", err))
	case err == nil && t.bad:
		t.logger.LogAttrs(ctx, slog.LevelInfo, "clicks go on", slog.String("after", t.part))
	}
	t.bad = err != nil
}
