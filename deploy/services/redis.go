package services

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"waypost/deploy/process"
)

// answerLimit bounds one question to a Redis that is starting.
const answerLimit = time.Second

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
	s.name, s.start = "redis", s.run
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
	p, err := process.Start(ctx, process.Spec{
		Name: s.name, Path: s.bin, Args: []string{conf}, Dir: s.cfg.Dir, Output: out, Ready: s.answers,
	})
	return p, withLog(err, s.cfg.Dir)
}

// conf returns the configuration file. It is a file because arguments, the password among them, can be read by
// every user of the machine.
func (s *RedisServer) conf() string {
	lines := []string{
		"bind " + host,
		"port " + strconv.Itoa(s.port),
		"daemonize no",
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

// answers returns nil once the process pid itself answers on the port. No driver is needed for two lines of the
// protocol, and a driver would log every refused connection of a start.
func (s *RedisServer) answers(ctx context.Context, pid int) error {
	dialer := net.Dialer{Timeout: answerLimit}
	conn, err := dialer.DialContext(ctx, "tcp", s.Addr())
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // nothing was written that matters
	if err := conn.SetDeadline(time.Now().Add(answerLimit)); err != nil {
		return err
	}
	request := "INFO server\r\n"
	if s.cfg.Password != "" {
		request = "AUTH " + s.cfg.Password + "\r\n" + request
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return err
	}
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "-") {
			return fmt.Errorf("redis: %s", lines.Text())
		}
		if got, ok := strings.CutPrefix(lines.Text(), "process_id:"); ok {
			if got != strconv.Itoa(pid) {
				return fmt.Errorf("redis: process %s answers on port %d, not the one that was started", got, s.port)
			}
			return nil
		}
	}
	return fmt.Errorf("redis: no process id from port %d", s.port)
}
