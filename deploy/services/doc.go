// Package services starts private, real PostgreSQL, Redis and NATS servers on free ports of 127.0.0.1, for tests,
// benches and the local stack, and hands out their addresses.
//
// # In tests
//
//	url := services.Postgres(t)       // a fresh database in the cluster this test process shares, as a superuser
//	pg := services.PrivatePostgres(t) // a cluster for this test alone: *PostgresServer
//	r := services.Redis(t)            // a Redis for this test alone: *RedisServer
//	n := services.NATS(t)             // a NATS server for this test alone: *NATSServer
//	p := services.NewProxy(t, r.Addr()) // a TCP proxy in front of any address: delay, slow, reset, cut, count
//
// All servers share these methods: URL() string, Addr() string, Port() int, PID() int, Done() <-chan struct{},
// Wait() error, Stop(ctx) error, Restart(ctx) error, Kill(), Pause(), Resume(). Restart keeps port and data, after a
// Stop, a Kill or neither (Redis: data of a polite stop only). DatabaseURL(name) of PostgreSQL names another database.
//
// Everything a helper starts is gone at the test's end. A program that is missing fails the test and says which
// package to install; nothing is skipped.
//
// A package that uses Postgres has a TestMain, which stops the shared cluster (without it the kernel does, and the
// cluster's goroutine looks like a leak to goleak):
//
//	func TestMain(m *testing.M) { services.Main(m).Run() }
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(services.Main(m)) }
//
// A running server has one goroutine in this process, which waits for it; it ends with the server, so that
// goleak.VerifyTestMain sees none. A goleak.VerifyNone inside a test belongs into a t.Cleanup registered before the
// servers are started.
//
// # Elsewhere
//
// StartPostgres, StartRedis and StartNATS take a config and a context that bounds the start, and return a server that
// has really answered, and answered as the process that was started. Stop is bounded by its context: first a polite
// signal, then SIGKILL.
//
// # What is where
//
// PostgreSQL does not run as root: root runs it as user postgres, else nobody, and its folder must be one that this
// user can reach (Reaches tells). Test clusters live in a waypost-test-* folder of os.TempDir, else /tmp, else
// /var/tmp, whichever can be reached. Programs are looked for in PATH, PostgreSQL's in /usr/lib/postgresql/*/bin
// first. The NATS server is the nats-server library in a process of its own, `waypost-local nats`, which NATS builds
// with the go command (BuildLocal).
//
// # No orphans
//
// A child gets a signal from the kernel when the process that started it dies, however it dies (PR_SET_PDEATHSIG,
// see package process). A PostgreSQL that was paused at that moment, and the folders of test runs that were killed,
// are removed by the next test process that starts a cluster.
package services
