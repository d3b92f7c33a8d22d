package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"waypost/deploy"
	"waypost/deploy/services"
)

// ensureServers finds PostgreSQL and Redis and installs what is missing. What apt-get has to say goes to out.
func ensureServers(ctx context.Context, out io.Writer) error {
	missing := missingServers()
	if len(missing) == 0 {
		return nil
	}
	args := append([]string{"-c", deploy.InstallScript, "install.sh"}, missing...)
	cmd := exec.CommandContext(ctx, "/bin/sh", args...) //nolint:gosec // our own script
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("install %v: %w", missing, err)
	}
	_, pgErr := services.FindPostgres()
	_, redisErr := services.FindRedis()
	return errors.Join(pgErr, redisErr)
}

// missingServers returns the Debian packages of what is not on this machine.
func missingServers() []string {
	var packages []string
	var missing *services.MissingError
	if _, err := services.FindPostgres(); errors.As(err, &missing) {
		packages = append(packages, missing.Package)
	}
	if _, err := services.FindRedis(); errors.As(err, &missing) {
		packages = append(packages, missing.Package)
	}
	return packages
}
