package services

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"waypost/deploy/process"
)

// RedisConfig says where a Redis lives. Dir is required.
type RedisConfig struct {
	Dir       string    // working folder, made if missing; a snapshot there is loaded at start
	Port      int       // 0: a free one
	Password  string    // empty: none, which is fine on 127.0.0.1 only
	MaxMemory int64     // bytes; 0: 64 MiB. At the limit only keys with a TTL may go (volatile-lru).
	Snapshot  bool      // write a snapshot at a polite stop, so that Restart keeps the data
	Output    io.Writer // nil: server.log in Dir
}

// RedisServer is a private Redis on 127.0.0.1. Safe for concurrent use.
type RedisServer struct {
	server
	cfg RedisConfig
	bin string
}

// StartRedis returns once the new process itself answers. ctx bounds the start only. A missing Redis is a
// *MissingError.
func StartRedis(ctx context.Context, cfg RedisConfig) (*RedisServer, error) {
	bin, err := FindRedis()
	if err != nil {
		return nil, err
	}
	if cfg.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("redis: folder: %w", err)
	}
	if cfg.MaxMemory == 0 {
		cfg.MaxMemory = 64 << 20
	}
	s := &RedisServer{cfg: cfg, bin: bin}
	s.name, s.server.start = "redis", s.run
	if err := s.launch(ctx, cfg.Port); err != nil {
		return nil, err
	}
	return s, nil
}

// URL returns "redis://[:password@]127.0.0.1:port/0".
func (s *RedisServer) URL() string {
	if s.cfg.Password == "" {
		return "redis://" + s.Addr() + "/0"
	}
	return "redis://:" + s.cfg.Password + "@" + s.Addr() + "/0"
}

func (s *RedisServer) run(ctx context.Context) (*process.Process, error) {
	out, closeOut, err := output(s.cfg.Output, s.cfg.Dir)
	if err != nil {
		return nil, err
	}
	defer closeOut()
	conf := filepath.Join(s.cfg.Dir, "redis.conf")
	if err := os.WriteFile(conf, []byte(s.conf()), 0o600); err != nil {
		return nil, err
	}
	var pid string
	p, err := process.Start(ctx, process.Spec{
		Name: s.name, Path: s.bin, Args: []string{conf}, Dir: s.cfg.Dir, Output: out,
		Ready: func(ctx context.Context) (err error) {
			pid, err = s.processID(ctx)
			return err
		},
	})
	if err == nil && pid != strconv.Itoa(p.PID()) {
		p.Kill()
		err = fmt.Errorf("redis: process %s answers on port %d, not the one that was started", pid, s.port)
	}
	return p, withLog(err, s.cfg.Dir)
}

// conf returns the configuration file. It is a file because arguments, the password among them, can be read by
// every user of the machine.
func (s *RedisServer) conf() string {
	lines := []string{
		"bind " + host,
		"port " + strconv.Itoa(s.port),
		"daemonize no",
		"databases 1",
		"appendonly no",
		`save ""`,
		"maxmemory " + strconv.FormatInt(s.cfg.MaxMemory, 10),
		"maxmemory-policy volatile-lru",
	}
	if s.cfg.Snapshot {
		lines = append(lines, "shutdown-on-sigterm save", "dbfilename dump.rdb")
	}
	if s.cfg.Password != "" {
		lines = append(lines, "requirepass "+s.cfg.Password)
	}
	return strings.Join(lines, "\n") + "\n"
}

// processID asks whoever listens on the port for its process id.
func (s *RedisServer) processID(ctx context.Context) (string, error) {
	client := redis.NewClient(&redis.Options{
		Addr: s.Addr(), Password: s.cfg.Password, PoolSize: 1, MaxRetries: -1, DialerRetries: 1,
		DisableIdentity: true,
	})
	defer client.Close() //nolint:errcheck // nothing was written
	info, err := client.InfoMap(ctx, "server").Result()
	if err != nil {
		return "", err
	}
	return info["Server"]["process_id"], nil
}
