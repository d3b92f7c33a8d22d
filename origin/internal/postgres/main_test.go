package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"waypost/deploy/services"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(services.Main(m)) }

// newStore opens a store on a fresh, migrated database.
func newStore(tb testing.TB) *postgres.Store {
	tb.Helper()
	return openStore(tb, services.Postgres(tb))
}

// openStore opens a store on the database at url and migrates it. Its timeouts
// are for a machine that is busy with all tests at once.
func openStore(tb testing.TB, url string) *postgres.Store {
	tb.Helper()
	s, err := postgres.Open(tb.Context(), postgres.Config{
		URL: url, MaxConns: 10, ConnectTimeout: time.Minute, StatementTimeout: time.Minute, LockTimeout: time.Minute,
	})
	if err != nil {
		tb.Fatalf("Open: %v", err)
	}
	tb.Cleanup(s.Close)
	if err := s.Migrate(tb.Context()); err != nil {
		tb.Fatalf("Migrate: %v", err)
	}
	return s
}

// content is a plain link to target.
func content(target string) *link.Link {
	return &link.Link{Target: target, Status: 302, Enabled: true, Clicks: true}
}

// create makes a link under key, or fails with link.ErrTaken.
func create(key link.Key, l *link.Link) links.Mutation {
	return links.Mutation{Key: key, Merge: func(old *link.Link, _ time.Time) (*link.Link, error) {
		if old != nil && old.DeletedAt.IsZero() {
			return nil, link.ErrTaken
		}
		made := *l
		return &made, nil
	}}
}

// generate makes a link under one of the given codes, in this order.
func generate(domain string, l *link.Link, codes ...string) links.Mutation {
	m := create(link.Key{Domain: domain}, l)
	m.Generate = func(context.Context) (string, error) {
		if len(codes) == 0 {
			return "", errors.New("no more codes")
		}
		code := codes[0]
		codes = codes[1:]
		return code, nil
	}
	return m
}

// update changes the live link under key.
func update(key link.Key, change func(*link.Link)) links.Mutation {
	return links.Mutation{Key: key, Merge: func(old *link.Link, _ time.Time) (*link.Link, error) {
		if old == nil || !old.DeletedAt.IsZero() {
			return nil, link.ErrNotFound
		}
		l := *old
		change(&l)
		return &l, nil
	}}
}

// remove deletes the live link under key.
func remove(key link.Key) links.Mutation {
	return links.Mutation{Key: key, Merge: func(old *link.Link, now time.Time) (*link.Link, error) {
		if old == nil || !old.DeletedAt.IsZero() {
			return nil, link.ErrNotFound
		}
		l := *old
		l.DeletedAt = now
		return &l, nil
	}}
}

// setRow gives a row of the config shard a value, "" for none.
func setRow(row, value string) links.ConfigMutation {
	return links.ConfigMutation{Row: row, Merge: func(*links.ConfigRow, time.Time) (string, error) { return value, nil }}
}

// mustSetRow carries out setRow and returns its change.
func mustSetRow(tb testing.TB, s *postgres.Store, row, value string) *feed.Change {
	tb.Helper()
	results, err := s.WriteConfig(tb.Context(), []links.ConfigMutation{setRow(row, value)})
	if err != nil || results[0].Err != nil {
		tb.Fatalf("WriteConfig %s: %+v, %v", row, results, err)
	}
	return results[0].Change
}

// registered is the store with go.example registered.
func registered(tb testing.TB, s *postgres.Store) *postgres.Store {
	tb.Helper()
	mustSetRow(tb, s, feed.DomainRow("go.example"), `{"host":"go.example"}`)
	return s
}

// write carries out one mutation.
func write(t *testing.T, s *postgres.Store, m links.Mutation) links.Result {
	t.Helper()
	results, err := s.Write(t.Context(), []links.Mutation{m})
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
	return results[0]
}

// mustWrite is write for a mutation that has to succeed.
func mustWrite(t *testing.T, s *postgres.Store, m links.Mutation) links.Result {
	t.Helper()
	res := write(t, s, m)
	if res.Err != nil {
		t.Fatalf("Write %s: %v", m.Key, res.Err)
	}
	return res
}
