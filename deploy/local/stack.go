package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"waypost/deploy/process"
	"waypost/deploy/services"
)

const (
	originBinary = "waypost-origin"
	edgeBinary   = "waypost-edge"
)

// lockPrefix keeps the origins' keys in eu's Redis apart from the edges'.
const lockPrefix = "wpo"

// stack builds the parts of one data folder.
type stack struct {
	config
	secrets
	cluster string // PostgreSQL's folder
}

// newStack makes the folders and secrets, or finds those of an earlier run.
func newStack(c config) (stack, error) {
	for _, dir := range []string{"logs", "edge-eu", "edge-us"} {
		if err := os.MkdirAll(c.path(dir), 0o700); err != nil {
			return stack{}, err
		}
	}
	kept, err := loadSecrets(c.data)
	if err != nil {
		return stack{}, err
	}
	cluster, err := clusterFolder(c)
	if err != nil {
		return stack{}, err
	}
	s := stack{config: c, secrets: kept, cluster: cluster}
	return s, replaceFile(c.databasePath(), []byte(s.databaseURL()+"\n"))
}

func (s stack) databaseURL() string {
	return "postgres://waypost:" + s.secrets.postgres + "@" + at(s.ports.postgres) + "/waypost?sslmode=disable"
}

// parts returns all parts in the order they start in; they stop in the reverse one.
func (s stack) parts() ([]part, error) {
	all := []part{
		s.postgres(),
		s.redis("redis-eu", s.ports.redisEU),
		s.redis("redis-us", s.ports.redisUS),
		s.nats(),
		s.origin(),
		s.edge("eu", s.ports.edgeEU, s.ports.opsEU, s.ports.redisEU),
		s.edge("us", s.ports.edgeUS, s.ports.opsUS, s.ports.redisUS),
	}
	for i, p := range all {
		if err := p.log.open(); err != nil {
			return nil, errors.Join(fmt.Errorf("log of %s: %w", p.name, err), closeLogs(all[:i]))
		}
	}
	return all, nil
}

func closeLogs(parts []part) error {
	var errs error
	for _, p := range parts {
		errs = errors.Join(errs, p.log.Close())
	}
	return errs
}

func (s stack) log(name string) *logFile {
	return &logFile{path: s.path("logs", name+".log"), limit: logLimit}
}

func (s stack) postgres() part {
	log := s.log("postgres")
	return part{name: "postgres", log: log, ready: atOnce, start: func(ctx context.Context) (*process.Process, error) {
		pg, err := services.StartPostgres(ctx, services.PostgresConfig{
			Dir: s.cluster, Port: s.ports.postgres, Password: s.secrets.postgres, Output: log,
		})
		if err != nil {
			return nil, err
		}
		return pg.Process(), nil
	}}
}

func (s stack) redis(name string, port int) part {
	log := s.log(name)
	return part{name: name, log: log, ready: atOnce, start: func(ctx context.Context) (*process.Process, error) {
		r, err := services.StartRedis(ctx, services.RedisConfig{
			Dir: s.path(name), Port: port, Password: s.secrets.redis, Snapshot: true, Output: log,
		})
		if err != nil {
			return nil, err
		}
		return r.Process(), nil
	}}
}

func (s stack) nats() part {
	log := s.log("nats")
	return part{name: "nats", log: log, ready: atOnce, start: func(ctx context.Context) (*process.Process, error) {
		n, err := services.StartNATS(ctx, services.NATSConfig{
			Dir: s.path("nats"), Binary: s.self, Port: s.ports.nats, Password: s.secrets.nats, Output: log,
		})
		if err != nil {
			return nil, err
		}
		return n.Process(), nil
	}}
}

func (s stack) origin() part {
	env := s.environ(map[string]string{
		"WAYPOST_LISTEN":          at(s.ports.originAPI),
		"WAYPOST_INTERNAL_LISTEN": at(s.ports.originInternal),
		"WAYPOST_OPS_LISTEN":      at(s.ports.opsOrigin),
		databaseEnv:               s.databaseURL(),
		"WAYPOST_REDIS_URL":       s.redisURL(s.ports.redisEU),
		"WAYPOST_REDIS_PREFIX":    lockPrefix,
		"WAYPOST_NATS_URL":        s.natsURL(),
		"WAYPOST_INTERNAL_SECRET": s.internal,
		"WAYPOST_PUBLIC_URL":      "http://" + at(s.ports.edgeEU),
		adminKeyEnv:               s.path("admin.key"),
	})
	return s.service("origin", []string{originBinary, "serve"}, env)
}

func (s stack) edge(region string, port, ops, redis int) part {
	name := "edge-" + region
	env := s.environ(map[string]string{
		"WAYPOST_REGION":          region,
		"WAYPOST_EDGE_ID":         name,
		"WAYPOST_LISTEN":          at(port),
		"WAYPOST_OPS_LISTEN":      at(ops),
		"WAYPOST_ORIGIN_URL":      "http://" + at(s.ports.originInternal),
		"WAYPOST_REDIS_URL":       s.redisURL(redis),
		"WAYPOST_NATS_URL":        s.natsURL(),
		"WAYPOST_INTERNAL_SECRET": s.internal,
		"WAYPOST_STATE_DIR":       s.path(name),
	})
	return s.service(name, []string{edgeBinary}, env)
}

func (s stack) redisURL(port int) string {
	return "redis://:" + s.secrets.redis + "@" + at(port) + "/0"
}

func (s stack) natsURL() string {
	return "nats://waypost:" + s.secrets.nats + "@" + at(s.ports.nats)
}

// service is one of Waypost's own binaries: command names it and gives its arguments.
func (s stack) service(name string, command, env []string) part {
	log := s.log(name)
	return part{
		name: name, log: log,
		start: func(ctx context.Context) (*process.Process, error) {
			return process.Start(ctx, process.Spec{
				Name: name, Path: filepath.Join(s.bin, command[0]), Args: command[1:], Env: env, Output: log,
				DeathSignal: syscall.SIGTERM, // a launcher that is killed still lets its services drain
			})
		},
		ready: func(ctx context.Context, p *process.Process) error {
			return awaitReady(ctx, "http://"+lookup(env, "WAYPOST_OPS_LISTEN")+"/readyz", p)
		},
	}
}

// atOnce is for parts whose start returns when they are ready.
func atOnce(context.Context, *process.Process) error { return nil }
