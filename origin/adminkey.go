package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"waypost/origin/internal/links"
)

// firstKey makes the first admin key where there is no key at all. The file is
// written before the key exists, and a file that is there is taken for the key,
// so that a start which was cut short in between is simply continued, and a key
// can be handed in from outside.
func firstKey(ctx context.Context, keys *links.Keys, path string, stderr io.Writer) error {
	none, err := keys.None(ctx)
	if err != nil || !none {
		return err
	}
	text, written := links.NewKeyText(), false
	if path != "" {
		if text, written, err = keepKey(path, text); err != nil {
			return fmt.Errorf("first admin key: %w", err)
		}
	}
	made, err := keys.First(ctx, text)
	switch {
	case errors.Is(err, links.ErrUnknownKey):
		return fmt.Errorf("first admin key: %s holds no key", path)
	case err != nil:
		return err
	case !made && written:
		return os.Remove(path) // another origin was first, and told its own
	case made && path == "":
		_, err = fmt.Fprintf(stderr, "%s: first admin key, shown this once: %s\n", program, text)
	}
	return err
}

// keepKey writes text to a file that only its owner can read, or returns what
// the file holds if there is one. The file appears whole: an origin that starts
// at the same moment reads all of it or finds none.
func keepKey(path, text string) (kept string, written bool, err error) {
	draft := path + ".new"
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, err
	}
	if err := writeDraft(draft, text+"\n"); err != nil {
		return "", false, err
	}
	defer os.Remove(draft) //nolint:errcheck // a leftover is removed by the next start
	err = os.Link(draft, path)
	if err == nil {
		return text, true, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return "", false, err
	}
	b, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	return strings.TrimSpace(string(b)), false, err
}

// writeDraft makes a new file; O_EXCL keeps it from following a link that
// somebody has put there.
func writeDraft(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}
