package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxSecret is the largest secret file read, in bytes.
const maxSecret = 64 << 10

// sources is where values come from: flags first, then the environment.
type sources struct {
	flags  map[string]string
	getenv func(string) string
}

// found is the value of one setting and the name it was set by.
type found struct {
	name string
	text string
	set  bool
}

// find looks a setting up. An error is the user's fault and belongs to the
// returned name.
func (in sources) find(f field) (found, error) {
	byFlag := func(name string) (string, bool) {
		text, ok := in.flags[name]
		return text, ok
	}
	if from, err := lookup(f, byFlag, "--", f.flag, fileFlag); from.set || err != nil {
		return from, err
	}
	if f.env == "" {
		return found{name: f.source()}, nil
	}
	byEnv := func(name string) (string, bool) {
		text := in.getenv(name)
		return text, text != ""
	}
	return lookup(f, byEnv, "", f.env, fileEnv)
}

// lookup looks a setting up in one source, as itself or, if it is a secret,
// as the file that holds it. Both at once is a fault: one of them is stale.
func lookup(f field, get func(string) (string, bool), dashes, name, suffix string) (found, error) {
	from := found{name: dashes + name}
	from.text, from.set = get(name)
	if !f.secret() {
		return from, nil
	}
	path, byFile := get(name + suffix)
	if !byFile {
		return from, nil
	}
	byName := found{name: dashes + name + suffix, set: true}
	if from.set {
		return byName, errors.New("is set together with " + from.name)
	}
	var err error
	byName.text, err = readSecret(path)
	return byName, err
}

// readSecret returns a file's content less one trailing newline. Its errors
// leave the path out, in case a secret was given in its place.
func readSecret(path string) (string, error) {
	file, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return "", cause(err)
	}
	defer func() { _ = file.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(file, maxSecret+1))
	switch {
	case err != nil:
		return "", cause(err)
	case len(text) > maxSecret:
		return "", fmt.Errorf("names a file of more than %d bytes", maxSecret)
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	if len(text) == 0 {
		return "", errors.New("names an empty file")
	}
	return string(text), nil
}

func cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return fmt.Errorf("names a file that cannot be read: %w", err)
}
