package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// errAsync refuses a server that calls a write committed before it is on disk:
// a crash would take back changes that edges already applied.
var errAsync = errors.New("synchronous_commit is off; set it to on (or remote_apply, remote_write, local) for this role and database")

// errStandby refuses a server in recovery: its heads lag, and every bound
// stands on heads of the primary.
var errStandby = errors.New("the server is a standby, not the primary")

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
