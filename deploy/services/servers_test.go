package services

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"
)

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(within(t), url)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func redisClient(t *testing.T, url string) *redis.Client {
	t.Helper()
	opts, err := redis.ParseURL(url)
	if err != nil {
		t.Fatalf("parse %s: %v", url, err)
	}
	client := redis.NewClient(opts)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestPostgresGivesEachTestItsOwnDatabase(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"one", "two"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := connect(t, Postgres(t))
			if _, err := conn.Exec(within(t), "CREATE TABLE only_here (n int)"); err != nil {
				t.Fatalf("create a table of the same name in a database of its own: %v", err)
			}
		})
	}
}

func TestPostgresSettings(t *testing.T) {
	t.Parallel()
	conn := connect(t, Postgres(t))
	for setting, want := range map[string]string{
		"synchronous_commit":  "on",
		"TimeZone":            "UTC",
		"listen_addresses":    "127.0.0.1",
		"password_encryption": "scram-sha-256",
		"server_encoding":     "UTF8",
		"max_connections":     "200",
	} {
		var got string
		if err := conn.QueryRow(within(t), "SELECT current_setting($1)", setting).Scan(&got); err != nil {
			t.Fatalf("%s: %v", setting, err)
		}
		if got != want {
			t.Errorf("%s = %q, want %q", setting, got, want)
		}
	}
}

func TestPostgresRefusesAWrongPassword(t *testing.T) {
	t.Parallel()
	url := Postgres(t)
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Password += "x"
	if conn, err := pgx.ConnectConfig(within(t), cfg); err == nil {
		_ = conn.Close(within(t))
		t.Error("a session with a wrong password was let in")
	}
}

func TestPostgresRestartKeepsDataAfterStopAndAfterKill(t *testing.T) {
	t.Parallel()
	pg := PrivatePostgres(t)
	url := pg.URL()
	if _, err := connect(t, url).Exec(within(t), "CREATE TABLE kept AS SELECT 7 AS n"); err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]func(){
		"stop":  func() { _ = pg.Stop(within(t)) },
		"kill":  pg.Kill,
		"alive": func() {},
	} {
		end()
		before := pg.PID()
		if err := pg.Restart(within(t)); err != nil {
			t.Fatalf("restart after %s: %v", name, err)
		}
		if pg.URL() != url {
			t.Errorf("URL after %s = %s, want the one from before, %s", name, pg.URL(), url)
		}
		if pg.PID() == before {
			t.Errorf("process after %s is the one from before, %d", name, before)
		}
		var n int
		if err := connect(t, url).QueryRow(within(t), "SELECT n FROM kept").Scan(&n); err != nil || n != 7 {
			t.Errorf("after %s: n = %d, %v; want 7", name, n, err)
		}
	}
}

func TestRedisRestartKeepsDataOfAPoliteStop(t *testing.T) {
	t.Parallel()
	r := Redis(t)
	client := redisClient(t, r.URL())
	if err := client.Set(within(t), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := r.Stop(within(t)); err != nil {
		t.Fatalf("stop: %v", err)
	}
	if conn, err := net.DialTimeout("tcp", r.Addr(), time.Second); err == nil {
		_ = conn.Close()
		t.Error("somebody listens on the port of a stopped Redis")
	}
	if err := r.Restart(within(t)); err != nil {
		t.Fatalf("restart: %v", err)
	}
	if got, err := redisClient(t, r.URL()).Get(within(t), "k").Result(); err != nil || got != "v" {
		t.Errorf("k after the restart = %q, %v; want v", got, err)
	}
}

func TestRedisWithPasswordRefusesOthers(t *testing.T) {
	t.Parallel()
	r, err := StartRedis(within(t), RedisConfig{Dir: t.TempDir(), Password: "p4ss"})
	if err != nil {
		t.Fatal(err)
	}
	stopAtEnd(t, r)
	if err := redisClient(t, r.URL()).Ping(within(t)).Err(); err != nil {
		t.Errorf("with the password: %v", err)
	}
	if err := redisClient(t, "redis://"+r.Addr()).Ping(within(t)).Err(); err == nil {
		t.Error("let in without a password")
	}
	policy, err := redisClient(t, r.URL()).ConfigGet(within(t), "maxmemory-policy").Result()
	if err != nil || policy["maxmemory-policy"] != "volatile-lru" {
		t.Errorf("policy = %v, %v; want volatile-lru", policy, err)
	}
}

func TestNATSCarriesMessagesAndComesBackOnItsPort(t *testing.T) {
	t.Parallel()
	n := NATS(t)
	roundTrip := func() {
		t.Helper()
		conn, err := nats.Connect(n.URL())
		if err != nil {
			t.Fatalf("connect: %v", err)
		}
		defer conn.Close()
		sub, err := conn.SubscribeSync("s")
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Publish("s", []byte("hello")); err != nil {
			t.Fatal(err)
		}
		msg, err := sub.NextMsgWithContext(within(t))
		if err != nil || string(msg.Data) != "hello" {
			t.Fatalf("message = %v, %v; want hello", msg, err)
		}
	}
	roundTrip()
	n.Kill()
	if conn, err := nats.Connect(n.URL(), nats.NoReconnect()); err == nil {
		conn.Close()
		t.Error("a killed server answers")
	}
	if err := n.Restart(within(t)); err != nil {
		t.Fatalf("restart: %v", err)
	}
	roundTrip()
}

func TestNATSWithPasswordRefusesOthers(t *testing.T) {
	t.Parallel()
	binary, err := shared.local(within(t))
	if err != nil {
		t.Fatal(err)
	}
	n, err := StartNATS(within(t), NATSConfig{Dir: t.TempDir(), Binary: binary, Password: "p4ss"})
	if err != nil {
		t.Fatal(err)
	}
	stopAtEnd(t, n)
	if conn, err := nats.Connect("nats://"+n.Addr(), nats.NoReconnect()); err == nil {
		conn.Close()
		t.Error("let in without credentials")
	}
}

func TestPausedServersAnswerOnlyOnceResumed(t *testing.T) {
	t.Parallel()
	r, pg := Redis(t), PrivatePostgres(t)
	conn := connect(t, pg.URL())
	tests := []struct {
		name          string
		pause, resume func()
		ask           func(ctx context.Context) error
	}{
		{"redis", r.Pause, r.Resume, func(ctx context.Context) error {
			opts, err := redis.ParseURL(r.URL())
			if err != nil {
				return err
			}
			opts.ContextTimeoutEnabled, opts.MaxRetries = true, -1
			client := redis.NewClient(opts)
			defer client.Close() //nolint:errcheck // only asked
			return client.Ping(ctx).Err()
		}},
		{"postgres, on a session that is open", pg.Pause, pg.Resume, func(ctx context.Context) error {
			tctx, cancel := context.WithCancel(ctx)
			defer cancel()
			_, err := conn.Exec(tctx, "SELECT 1")
			return err
		}},
	}
	for _, tt := range tests {
		tt.pause()
		answer := make(chan error, 1)
		ctx := within(t)
		go func() { answer <- tt.ask(ctx) }()
		select {
		case err := <-answer:
			t.Errorf("%s answered while paused: %v", tt.name, err)
		case <-time.After(100 * time.Millisecond):
			tt.resume()
			if err := <-answer; err != nil {
				t.Errorf("%s after resume: %v", tt.name, err)
			}
		}
	}
}

func TestStopEndsAPausedServer(t *testing.T) {
	t.Parallel()
	r := Redis(t)
	r.Pause()
	if err := r.Stop(within(t)); err != nil {
		t.Errorf("stop of a paused Redis: %v", err)
	}
	select {
	case <-r.Done():
	default:
		t.Error("Done is open after Stop")
	}
}

func TestStartOnATakenPortFailsWithTheServersOwnReason(t *testing.T) {
	t.Parallel()
	r := Redis(t)
	_, err := StartRedis(within(t), RedisConfig{Dir: t.TempDir(), Port: r.Port()})
	if err == nil || !strings.Contains(err.Error(), "Address already in use") {
		t.Errorf("error = %v, want one that quotes the log: Address already in use", err)
	}
}

func TestMissingProgramNamesItsPackage(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := StartRedis(within(t), RedisConfig{Dir: t.TempDir()})
	var missing *MissingError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "apt-get install redis-server") {
		t.Errorf("error = %v, want a MissingError that names the package", err)
	}
}
