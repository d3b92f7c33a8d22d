package links

import (
	"context"
	"errors"
	"time"

	"waypost/shared/feed"
)

// ErrInUse refuses to remove a domain that has links.
var ErrInUse = errors.New("domain has links")

// ErrFull refuses one more row of a kind that has as many as it may, and any byte
// where all rows have as many as they may.
var ErrFull = errors.New("there are as many as there may be")

// ErrConfigMoved refuses a mutation that was made under an older config.
var ErrConfigMoved = errors.New("config has changed meanwhile")

// ConfigRow is a row of the config shard.
type ConfigRow struct {
	Name           string
	Value          string // JSON; "" where there is no such row
	Epoch, Version uint64 // of the change that made it what it is
}

// version is what the row's ETag names.
func (r *ConfigRow) version() Version { return Version{Epoch: r.Epoch, Seq: r.Version} }

// MaxConfigWrite is the most mutations of one write of config rows.
const MaxConfigWrite = 500

// ConfigMutation is one wished change of a row of the config shard.
type ConfigMutation struct {
	Row string
	// Most is how many rows of its kind (up to the first "/") there may be: one
	// more is not made. 0: any number.
	Most int
	// Merge decides what becomes of the row, under the shard's lock. old is nil if
	// there is none; now is PostgreSQL's clock. It returns the new value, "" to
	// remove the row, or the error that fails this mutation.
	Merge func(old *ConfigRow, now time.Time) (value string, err error)
}

// ConfigResult is what became of one ConfigMutation.
type ConfigResult struct {
	Row    ConfigRow    // as it is now
	Change *feed.Change // what to publish; nil when nothing was written
	Err    error        // of Merge; ErrInUse, ErrFull
}

// configStore keeps what is on the config shard: domains and blocks.
type configStore interface {
	// Config is asked with every write of links; whoever asks may not change it.
	Config(ctx context.Context) (*feed.Config, error)
	// ConfigRows lists rows by their names' prefix, in byte order, after a name.
	ConfigRows(ctx context.Context, prefix, after string, limit int) ([]ConfigRow, error)
	// WriteConfig is for different rows, at most MaxConfigWrite.
	WriteConfig(ctx context.Context, ms []ConfigMutation) ([]ConfigResult, error)
}

// configMemory spares creations a read: they are held against what was read last,
// and against its position when they are written.
type configMemory interface {
	// KnownConfig is the config as it was last asked for, nil before; whoever asks
	// may not change it.
	KnownConfig() *feed.Config
}

// writeConfig commits the mutations and tells edges. Like write it goes on
// without its caller, for as long as the store takes at most.
func (s *Service) writeConfig(ctx context.Context, sp *spread, ms []ConfigMutation) ([]ConfigResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	results, err := s.config.WriteConfig(ctx, ms)
	if err != nil {
		return nil, err
	}
	changes := make([]*feed.Change, len(results))
	for i := range results {
		changes[i] = results[i].Change
	}
	sp.publish(changes)
	for i := range results {
		sp.coverRow(&results[i])
	}
	return results, nil
}

// writeRow is writeConfig for a single mutation, whose error it returns, with the
// receipt.
func (s *Service) writeRow(ctx context.Context, m ConfigMutation, ack Ack) (ConfigRow, Receipt, error) {
	sp := s.spread(ack)
	results, err := s.writeConfig(ctx, sp, []ConfigMutation{m})
	if err != nil {
		return ConfigRow{}, Receipt{}, err
	}
	if err := results[0].Err; err != nil {
		return ConfigRow{}, Receipt{}, err
	}
	return results[0].Row, sp.receipt(context.WithoutCancel(ctx)), nil
}

// row reads one row; ok is false where there is none.
func (s *Service) row(ctx context.Context, name string) (r ConfigRow, ok bool, err error) {
	rows, err := s.config.ConfigRows(ctx, name, "", 1) // nothing comes before the name itself
	if err != nil || len(rows) == 0 || rows[0].Name != name {
		return ConfigRow{}, false, err
	}
	return rows[0], true, nil
}
