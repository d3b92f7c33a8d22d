package services

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// backupSuffix names the folder beside the cluster that holds its copy.
const backupSuffix = ".backup"

// Backup copies the cluster, file by file, as it is now. The server goes on meanwhile. There is one copy at most: the
// next one takes the place of the last.
func (s *PostgresServer) Backup(ctx context.Context) error {
	dir := s.cfg.Dir + backupSuffix
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := s.acc.own(dir); err != nil {
		return fmt.Errorf("postgres: folder of the backup: %w", err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "pg_basebackup"), //nolint:gosec // beside the server's program
		"--host="+host, "--port="+strconv.Itoa(s.port), "--username="+pgUser, "--pgdata="+dir, "--checkpoint=fast", "--no-sync")
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "PGPASSWORD="+s.cfg.Password)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.acc.credential}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_basebackup: %w:\n%s", err, out)
	}
	return nil
}

// Restore stops the server, puts the copy in the cluster's place and starts it. What was written since Backup is lost,
// and nothing about the server tells so: identifier and timeline are those from before.
func (s *PostgresServer) Restore(ctx context.Context) error {
	backup := s.cfg.Dir + backupSuffix
	if _, err := os.Stat(filepath.Join(backup, clusterVersion)); err != nil {
		return fmt.Errorf("postgres: no backup: %w", err)
	}
	stopping, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	if err := s.Stop(stopping); err != nil {
		return err
	}
	if err := os.RemoveAll(s.cfg.Dir); err != nil {
		return err
	}
	if err := os.Rename(backup, s.cfg.Dir); err != nil {
		return err
	}
	return s.Restart(ctx)
}
