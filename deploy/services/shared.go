package services

import (
	"context"
	"fmt"
	"sync"
)

// shared holds what all tests of one process use together. It has to be a global: tests of a package know nothing
// of each other, and a cluster for each would cost a second a test.
var shared sharedServices //nolint:gochecknoglobals // see above

// sharedServices starts each thing at the first use. Safe for concurrent use.
type sharedServices struct {
	mu     sync.Mutex
	pg     *PostgresServer
	folder *folder
	made   int    // databases so far
	binary string // waypost-local, once built
}

// database makes a fresh database in the shared cluster.
func (s *sharedServices) database(ctx context.Context) (pg *PostgresServer, name string, err error) {
	pg, n, err := s.cluster(ctx)
	if err != nil {
		return nil, "", err
	}
	name = fmt.Sprintf("test_%d", n)
	return pg, name, pg.createDatabase(ctx, name)
}

// cluster returns the shared cluster and the next number for a database in it.
func (s *sharedServices) cluster(ctx context.Context) (*PostgresServer, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	if s.pg != nil {
		return s.pg, s.made, nil
	}
	f, err := newFolder()
	if err != nil {
		return nil, 0, err
	}
	pg, err := StartPostgres(ctx, PostgresConfig{Dir: f.cluster(), Unsafe: true})
	if err != nil {
		f.remove()
		return nil, 0, err
	}
	s.pg, s.folder = pg, f
	return pg, s.made, nil
}

// local builds waypost-local once a process.
func (s *sharedServices) local(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.binary != "" {
		return s.binary, nil
	}
	path, err := BuildLocal(ctx)
	if err != nil {
		return "", err
	}
	s.binary = path
	return path, nil
}

// stop ends the shared cluster, if there is one, and removes its folder.
func (s *sharedServices) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pg == nil {
		return
	}
	s.pg.Kill() // nothing in it is wanted any more, so it need not write it out
	s.folder.remove()
	s.pg, s.folder = nil, nil
}

// TestRun is what Main takes and returns: *testing.M, or anything that runs tests and returns an exit code.
type TestRun interface {
	Run() int
}

// Main wraps m so that the shared cluster is stopped and its folder removed once the tests have run:
//
//	func TestMain(m *testing.M) { services.Main(m).Run() }
//
// or, where goroutines are checked, goleak.VerifyTestMain(services.Main(m)): the cluster's goroutine would show up
// as a leak without it.
func Main(m TestRun) TestRun { return stopAfter{m} }

type stopAfter struct{ tests TestRun }

// Run runs the tests, stops what they shared and returns their exit code.
func (s stopAfter) Run() int {
	defer shared.stop()
	return s.tests.Run()
}
