package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
		return withdraw(ctx, keys, path, text)
	case made && path == "":
		_, err = fmt.Fprintf(stderr, "%s: first admin key, shown this once: %s\n", program, text)
	}
	return err
}

// withdraw removes the file of a key that was not made, because another origin
// was first and told its own. But that one may have found this very file, and
// made its key of it: then the file stays.
func withdraw(ctx context.Context, keys *links.Keys, path, text string) error {
	_, err := keys.Check(ctx, text)
	if errors.Is(err, links.ErrUnknownKey) {
		return os.Remove(path)
	}
	return err
}

// keepKey writes text to a file that only its owner can read, or returns what
// the file holds if there is one. The file appears whole: an origin that starts
// at the same moment reads all of it or finds none.
func keepKey(path, text string) (kept string, written bool, err error) {
	draft, err := writeDraft(path, text+"\n")
	if draft != "" {
		defer os.Remove(draft) //nolint:errcheck // a leftover tells no more than the file itself, to the same reader
	}
	if err != nil {
		return "", false, err
	}
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

// writeDraft makes a new file beside path, under a name of its own: origins that
// start at the same moment may share the folder. The name is "" if there is no
// file.
func writeDraft(path, text string) (draft string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new*") // mode 0600, and O_EXCL
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	return f.Name(), errors.Join(err, f.Sync(), f.Close())
}
