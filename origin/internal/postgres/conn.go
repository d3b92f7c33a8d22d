package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// errAsync refuses a server that calls a write committed before it is on disk:
// a crash would take back changes that edges already applied.
var errAsync = errors.New("synchronous_commit is off; set it to on (or remote_apply, remote_write, local) for this role and database")

// errStandby refuses a server in recovery: its heads lag, and every bound
// stands on heads of the primary.
var errStandby = errors.New("the server is a standby, not the primary")

// identity is the physical history that positions belong to. The timeline
// comes from the WAL being written, because pg_control lags after a promotion.
const identity = `SELECT system_identifier,
	('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint FROM pg_control_system()`

// checkConn looks at a new connection before its first use.
func checkConn(ctx context.Context, conn *pgx.Conn) error {
	var commit string
	var standby, migrated bool
	err := conn.QueryRow(ctx, `SELECT current_setting('synchronous_commit'), pg_is_in_recovery(),
		to_regclass('epoch') IS NOT NULL`).Scan(&commit, &standby, &migrated)
	switch {
	case err != nil:
		return err
	case standby:
		return errStandby
	case commit == "off":
		return errAsync
	case !migrated:
		return nil
	}
	return checkEpoch(ctx, conn)
}

// checkEpoch starts a new epoch if the server is not the one that the epoch's
// row was written on. Connections that find that out together make one step.
func checkEpoch(ctx context.Context, conn *pgx.Conn) error {
	var seen, system, timeline int64
	err := conn.QueryRow(ctx, `SELECT n, system_identifier, timeline FROM epoch`).Scan(&seen, &system, &timeline)
	if err != nil {
		return fmt.Errorf("epoch: %w", err)
	}
	var nowSystem, nowTimeline int64
	if err := conn.QueryRow(ctx, identity).Scan(&nowSystem, &nowTimeline); err != nil {
		return fmt.Errorf("identity of the server: %w", err)
	}
	if nowSystem == system && nowTimeline == timeline {
		return nil
	}
	_, err = conn.Exec(ctx, `UPDATE epoch SET n = n + 1, system_identifier = $1, timeline = $2 WHERE n = $3`,
		nowSystem, nowTimeline, seen)
	return err
}
