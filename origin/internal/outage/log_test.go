package outage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"waypost/origin/internal/outage"
	"waypost/shared/link"
)

// coded is an error with a code of PostgreSQL's.
type coded string

func (c coded) Error() string    { return "refused on connection " + string(c) }
func (c coded) SQLState() string { return string(c) }

func TestEachKindOfCauseHasOneLineASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		l := outage.New(slog.New(slog.NewTextHandler(&log, nil)))
		own := errors.New("no turn")
		causes := []error{
			fmt.Errorf("read: %w: %w", link.ErrUnavailable, coded("53300")),
			fmt.Errorf("write: %w: %w", link.ErrUnavailable, coded("55P03")),
			fmt.Errorf("heads: %w: %w", link.ErrUnavailable, context.DeadlineExceeded),
			fmt.Errorf("fill: %w", link.ErrUnavailable),
			own,
		}
		for range 3 {
			log.Reset()
			for i := range 100 {
				for _, cause := range causes {
					l.Note(t.Context(), "the-id", fmt.Errorf("call %d: %w", i, cause))
				}
			}
			if got := strings.Count(log.String(), "\n"); got != len(causes) {
				t.Errorf("%d lines, want one for each of %d kinds:\n%s", got, len(causes), &log)
			}
			for _, want := range []string{"level=WARN", "request_id=the-id", "53300", "call 0", own.Error()} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("log lacks %q:\n%s", want, &log)
				}
			}
			<-time.After(time.Second)
		}
	})
}

func TestKindsWithoutNumberAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		l := outage.New(slog.New(slog.NewTextHandler(&log, nil)))
		for i := range 1000 {
			l.Note(t.Context(), "id", fmt.Errorf("from port %d", i))
		}
		if got := strings.Count(log.String(), "\n"); got != 32 {
			t.Errorf("%d lines, want 32", got)
		}
		<-time.After(time.Second)
		log.Reset()
		l.Note(t.Context(), "id", errors.New("another"))
		if log.Len() == 0 {
			t.Error("no line a second later")
		}
	})
}

func TestAClientThatLeftIsNoOutage(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	outage.New(slog.New(slog.NewTextHandler(&log, nil))).Note(ctx, "id", link.ErrUnavailable)
	if log.Len() > 0 {
		t.Errorf("log = %q, want nothing", &log)
	}
}
