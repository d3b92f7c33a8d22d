package main

import (
	"context"
	"fmt"

	"waypost/origin/internal/postgres"
)

// epoch runs epoch bump, for a database whose files were put back to an older
// state: nothing in them says so, and edges would take new changes for those
// they have. It prints the new epoch's number.
func (in invocation) epoch(ctx context.Context) error {
	if len(in.args) == 0 || in.args[0] != "bump" {
		return faultOf("epoch", "needs bump")
	}
	in.args = in.args[1:]
	var cfg struct{ Database postgres.Config }
	if _, err := in.load("epoch bump", &cfg, 0); err != nil {
		return err
	}
	store, err := postgres.Open(ctx, cfg.Database)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.Migrate(ctx); err != nil {
		return err
	}
	n, err := store.BumpEpoch(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(in.stdout, n)
	return err
}
