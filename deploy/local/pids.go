package main

import (
	"bytes"
	"fmt"
	"os"
	"sync"
)

// pidFile lists the running parts, "name pid" a line, in the order they were started first. Safe for concurrent use.
type pidFile struct {
	path string

	mu    sync.Mutex
	names []string
	pids  map[string]int
}

func newPIDFile(path string) *pidFile {
	return &pidFile{path: path, pids: make(map[string]int)}
}

// set notes that the part runs as pid and rewrites the file.
func (f *pidFile) set(name string, pid int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := false
	for _, n := range f.names {
		known = known || n == name
	}
	if !known {
		f.names = append(f.names, name)
	}
	f.pids[name] = pid
	return f.write()
}

// clear notes that the part does not run and rewrites the file.
func (f *pidFile) clear(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.pids, name)
	return f.write()
}

// remove deletes the file: nothing runs any more.
func (f *pidFile) remove() error { return os.Remove(f.path) }

func (f *pidFile) write() error {
	var b bytes.Buffer
	for _, name := range f.names {
		if pid, runs := f.pids[name]; runs {
			fmt.Fprintf(&b, "%s %d\n", name, pid)
		}
	}
	if err := replaceFile(f.path, b.Bytes()); err != nil {
		return fmt.Errorf("pid file: %w", err)
	}
	return nil
}
