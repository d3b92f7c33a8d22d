package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/link"
)

// key runs key create, key list and key revoke, which work on the database and
// need no running origin.
func (in invocation) key(ctx context.Context) error {
	if len(in.args) > 0 {
		action := in.args[0]
		in.args = in.args[1:]
		switch action {
		case "create":
			return in.createKey(ctx)
		case "list":
			return in.listKeys(ctx)
		case "revoke":
			return in.revokeKey(ctx)
		}
	}
	return faultOf("key", "needs create, list or revoke")
}

// createKey prints the key, alone on stdout, for scripts; what it may do is said
// on stderr.
func (in invocation) createKey(ctx context.Context) error {
	var cfg struct {
		Owner    string   `flag:"owner" help:"owner whose links the key is confined to; not with admin"`
		Scopes   []string `flag:"scopes" default:"links:read,links:write,stats:read" enum:"links:read,links:write,stats:read,admin" help:"what the key may do; left out, everything about links but not about keys: for that it takes admin, which may do all"`
		Note     string   `flag:"note" help:"for people"`
		Rate     float64  `flag:"create-rate" unit:"links a second" min:"0" max:"10000" help:"how fast the key may create links; 0: WAYPOST_LIMIT_CREATE_RATE of the service. An admin key is not limited"`
		Burst    int64    `flag:"create-burst" unit:"links" min:"0" max:"1000000" help:"how many links the key may create at once; 0: WAYPOST_LIMIT_CREATE_BURST of the service"`
		Database postgres.Config
	}
	if _, err := in.load("key create", &cfg, 0); err != nil {
		return err
	}
	input := &links.KeyInput{Owner: links.Value(cfg.Owner), Scopes: links.Value(cfg.Scopes), Note: links.Value(cfg.Note)}
	if cfg.Rate != 0 {
		input.CreateRate = links.Value(cfg.Rate)
	}
	if cfg.Burst != 0 {
		input.CreateBurst = links.Value(cfg.Burst)
	}
	return withKeys(ctx, cfg.Database, func(keys *links.Keys) error {
		key, text, err := keys.Make(ctx, input)
		if invalid, ok := errors.AsType[*link.InvalidError](err); ok {
			return faultOf("--"+strings.ReplaceAll(invalid.Fields[0].Field, "_", "-"), invalid.Fields[0].Reason)
		}
		if err != nil {
			return err
		}
		owner := ""
		if key.Owner != "" {
			owner = ", confined to links of " + key.Owner
		}
		_, _ = fmt.Fprintf(in.stderr, "%s: key %s with scopes %s%s, shown this once:\n", program, key.ID, strings.Join(key.Scopes, ","), owner)
		_, err = fmt.Fprintln(in.stdout, text)
		return err
	})
}

func (in invocation) listKeys(ctx context.Context) error {
	var cfg struct{ Database postgres.Config }
	if _, err := in.load("key list", &cfg, 0); err != nil {
		return err
	}
	return withKeys(ctx, cfg.Database, func(keys *links.Keys) error {
		table := tabwriter.NewWriter(in.stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "ID\tCREATED\tOWNER\tSCOPES\tRATE\tBURST\tNOTE") // errors are kept for Flush
		for after, more := (links.Place{}), true; more; more = after.Started {
			page, next, err := keys.List(ctx, after, links.MaxLimit)
			if err != nil {
				return err
			}
			for _, k := range page {
				_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.CreatedAt.Format(time.RFC3339), k.Owner,
					strings.Join(k.Scopes, ","), orDefault(k.CreateRate), orDefault(k.CreateBurst), k.Note)
			}
			after = next
		}
		return table.Flush()
	})
}

// orDefault shows a number of a key, for which 0 stands for the service's own.
func orDefault[T int | float64](n T) string {
	if n == 0 {
		return "default"
	}
	return fmt.Sprint(n)
}

func (in invocation) revokeKey(ctx context.Context) error {
	var cfg struct{ Database postgres.Config }
	rest, err := in.load("key revoke <id>", &cfg, 1)
	switch {
	case err != nil:
		return err
	case len(rest) == 0:
		return faultOf("key revoke", "needs the id of a key")
	}
	return withKeys(ctx, cfg.Database, func(keys *links.Keys) error {
		err := keys.Revoke(ctx, rest[0])
		switch {
		case errors.Is(err, link.ErrNotFound):
			return fmt.Errorf("no valid key has the id %s", rest[0])
		case errors.Is(err, links.ErrLastAdmin):
			return fmt.Errorf("%s is the last admin key: make another one first, with key create --scopes admin", rest[0])
		}
		return err
	})
}

// withKeys lends the keys of a database, which it brings up to date first: the
// first key may be made before the first origin starts.
func withKeys(ctx context.Context, db postgres.Config, use func(*links.Keys) error) error {
	store, err := postgres.Open(ctx, db)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.Migrate(ctx); err != nil {
		return err
	}
	return use(links.NewKeys(store, time.Now))
}
