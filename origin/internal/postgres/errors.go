package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"waypost/shared/link"
)

const uniqueViolation = "23505"

// translate says an error of the driver in the words of the domain. what names
// the operation.
func translate(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, link.ErrUnavailable):
		return err
	case unavailable(err):
		return fmt.Errorf("postgres %s: %w: %w", what, link.ErrUnavailable, err)
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case e.Code == uniqueViolation:
			return fmt.Errorf("postgres %s: %w: %w", what, link.ErrTaken, err)
		case refused(e):
			return fmt.Errorf("postgres %s: %w: %w", what, unstorable(), err)
		}
	}
	return fmt.Errorf("postgres %s: %w", what, err)
}

// unavailable reports whether an operation could work later, or elsewhere,
// unchanged.
func unavailable(err error) bool {
	if errors.Is(err, errAsync) {
		return false // somebody has to change the server first
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return transient(e.Code)
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, puddle.ErrClosedPool) || errors.Is(err, errStandby) || errors.Is(err, errRaced) ||
		errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err)
}

// transient reports the codes of PostgreSQL, appendix A, that speak of the
// server's state and not of what it was asked.
func transient(code string) bool {
	switch code {
	case "25006", // read-only transaction: the primary became a standby
		"25P03",                                     // idle-in-transaction timeout
		"55P03",                                     // lock timeout
		"57014",                                     // statement timeout
		"57P01", "57P02", "57P03", "57P04", "57P05": // shutdown, crash, starting up, database dropped, idle session
		return true
	}
	switch code[:2] {
	case "08", // connection
		"28", // authorisation: a password that was changed on one side
		"40", // rolled back: deadlock, serialisation
		"53", // out of connections, disk or memory
		"58": // I/O error
		return true
	}
	return false
}

// refused reports values that the schema does not take: bytes that are not
// UTF-8 or zero (class 22), constraints (class 23).
func refused(e *pgconn.PgError) bool { return e.Code[:2] == "22" || e.Code[:2] == "23" }

// unstorable does not name the column or constraint: that is the schema's, and
// stands in the error that it is wrapped with.
func unstorable() error {
	return &link.InvalidError{Fields: []link.FieldError{{Field: "body", Reason: "has a value that cannot be stored"}}}
}
