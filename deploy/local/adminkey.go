package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	databaseEnv = "WAYPOST_DATABASE_URL"
	adminKeyEnv = "WAYPOST_ADMIN_KEY_FILE"
)

// keyPath is the file that the origin writes the first admin key to.
func (c config) keyPath() string {
	if path := lookup(c.env, adminKeyEnv); path != "" {
		return absolute(path)
	}
	return c.path("admin.key")
}

// databasePath is a file with the address of this stack's database, password included, for commands that are run by
// hand.
func (c config) databasePath() string { return c.path("database.url") }

// adminKey returns the key in keyPath, or "" if there is none or the origin says that it is no valid admin key. A key
// about which the origin says nothing is returned.
func adminKey(ctx context.Context, c config) string {
	b, err := os.ReadFile(c.keyPath())
	key := string(bytes.TrimSpace(b))
	if err != nil || key == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at(c.ports.originAPI)+"/api/v1/keys", http.NoBody)
	if err != nil {
		return key
	}
	req.Header.Set("Authorization", "Bearer "+key)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return key
	}
	_ = resp.Body.Close() // only the status counts
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return ""
	}
	return key
}

// rescue is a command that makes another admin key and keeps it where the next start looks for it. It names the file
// with the database's address and not the address, which has a password. An address that this stack was given in its
// environment stands nowhere else, so it has to be there for the command too.
func rescue(c config) string {
	path := c.databasePath()
	if own := lookup(c.env, databaseEnv+"_FILE"); own != "" {
		path = absolute(own)
	}
	database := databaseEnv + "_FILE=" + quoted(path) + " "
	if lookup(c.env, databaseEnv) != "" {
		database = ""
	}
	return "(umask 077; " + database + quoted(filepath.Join(c.bin, originBinary)) + " key create --scopes admin | tee " + quoted(c.keyPath()) + ")"
}

// bearer is the key as it stands in a shell's double quotes: itself or, where there is none yet, what the rescue will
// have put into its file.
func bearer(c config, key string) string {
	if key != "" {
		return key
	}
	return fmt.Sprintf("$(cat %s)", quoted(c.keyPath()))
}

// absolute is where a path leads from here.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// quoted is s as one word of a shell.
func quoted(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
