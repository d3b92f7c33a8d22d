package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"waypost/shared/link"
)

func TestDriverErrorsAreTranslated(t *testing.T) {
	t.Parallel()
	other := errors.New("other")
	pg := func(code string) error { return fmt.Errorf("wrapped: %w", &pgconn.PgError{Code: code}) }
	for _, tt := range []struct {
		name string
		err  error
		want error // nil: none of the domain's
	}{
		{"connection refused", &net.OpError{Op: "dial", Err: other}, link.ErrUnavailable},
		{"connect error", &pgconn.ConnectError{}, link.ErrUnavailable},
		{"connection lost", io.ErrUnexpectedEOF, link.ErrUnavailable},
		{"connection closed", pgconn.ErrConnClosed, link.ErrUnavailable},
		{"deadline", context.DeadlineExceeded, link.ErrUnavailable},
		{"standby", errStandby, link.ErrUnavailable},
		{"shutdown", pg("57P01"), link.ErrUnavailable},
		{"starting up", pg("57P03"), link.ErrUnavailable},
		{"statement timeout", pg("57014"), link.ErrUnavailable},
		{"lock timeout", pg("55P03"), link.ErrUnavailable},
		{"too many connections", pg("53300"), link.ErrUnavailable},
		{"read-only", pg("25006"), link.ErrUnavailable},
		{"deadlock", pg("40P01"), link.ErrUnavailable},
		{"unique violation", pg("23505"), link.ErrTaken},
		{"asynchronous commit", errAsync, nil},
		{"syntax error", pg("42601"), nil},
		{"other", other, nil},
	} {
		got := translate("test", tt.err)
		if !errors.Is(got, tt.err) {
			t.Errorf("%s: %v lost its cause", tt.name, got)
		}
		for _, word := range []error{link.ErrUnavailable, link.ErrTaken} {
			if errors.Is(got, word) != errors.Is(tt.want, word) {
				t.Errorf("%s: %v is %v: %v, want %v", tt.name, got, word, errors.Is(got, word), errors.Is(tt.want, word))
			}
		}
	}
	for _, code := range []string{"22021", "23514"} {
		err := fmt.Errorf("wrapped: %w", &pgconn.PgError{Code: code, ColumnName: "link_column", ConstraintName: "link_check"})
		invalid, ok := errors.AsType[*link.InvalidError](translate("test", err))
		if !ok {
			t.Errorf("%s is no InvalidError", code)
			continue
		}
		for _, f := range invalid.Fields {
			if strings.Contains(f.Field+f.Reason, "link_") {
				t.Errorf("%s: the fault %+v names the schema", code, f)
			}
		}
	}
	if err := translate("test", nil); err != nil {
		t.Errorf("translate(nil) = %v", err)
	}
}
