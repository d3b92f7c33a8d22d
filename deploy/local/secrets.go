package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// secrets of one stack, made at its first run and kept beside its data.
type secrets struct {
	internal, postgres, redis, nats string
}

// loadSecrets reads the secrets in dir and makes those that are missing.
func loadSecrets(dir string) (secrets, error) {
	var s secrets
	for name, value := range map[string]*string{
		"internal.secret":   &s.internal,
		"postgres.password": &s.postgres,
		"redis.password":    &s.redis,
		"nats.password":     &s.nats,
	} {
		var err error
		if *value, err = secret(filepath.Join(dir, name)); err != nil {
			return secrets{}, fmt.Errorf("secret: %w", err)
		}
	}
	return s, nil
}

// secret returns the content of the file, or makes one: 130 random bits as base32, mode 0600.
func secret(path string) (string, error) {
	b, err := os.ReadFile(path) //nolint:gosec // in the stack's own folder
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if kept := bytes.TrimSpace(b); len(kept) > 0 {
		return string(kept), nil
	}
	made := rand.Text()
	return made, replaceFile(path, []byte(made+"\n"))
}

// replaceFile writes a file of mode 0600 so that a reader sees the old content or the new one, never a part.
func replaceFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
