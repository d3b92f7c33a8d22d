package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"waypost/deploy/services"
)

// elsewhere holds clusters of data folders that PostgreSQL's user cannot reach, one folder each.
const elsewhere = "/var/lib/waypost"

// clusterFolder returns where PostgreSQL keeps its cluster: in the data folder, or, where root runs the stack below
// a folder that the user postgres may not pass (a home of mode 0700), in a folder of its own under /var/lib/waypost.
// The file postgres.path in the data folder remembers which: with a new data folder starts a new cluster.
func clusterFolder(c config) (string, error) {
	inside := c.path("postgres")
	memory := c.path("postgres.path")
	b, err := os.ReadFile(memory) //nolint:gosec // in the stack's own folder
	if err == nil {
		return string(bytes.TrimSpace(b)), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	reached, err := services.Reaches(inside)
	if err != nil {
		return "", err
	}
	if reached {
		return inside, nil
	}
	outside := filepath.Join(elsewhere, strings.ToLower(rand.Text()[:12]), "postgres")
	return outside, replaceFile(memory, []byte(outside+"\n"))
}
