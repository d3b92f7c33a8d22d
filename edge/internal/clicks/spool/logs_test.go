package spool

import (
	"os"
	"path/filepath"
	"testing"
)

// readAll reads a log from its start to its end in small parts.
func readAll(tb testing.TB, l *Log, each func(at uint64, payload []byte)) {
	tb.Helper()
	for at := l.Start(); at < l.End(); {
		to, err := l.Read(at, 4<<10, func(at uint64, payload []byte) error { each(at, payload); return nil })
		if err != nil {
			tb.Fatal(err)
		}
		if to <= at {
			tb.Fatalf("Read from %d of %d ended at %d", at, l.End(), to)
		}
		at = to
	}
}

// payloads are all of a log, in order.
func payloads(tb testing.TB, l *Log) (all []string) {
	tb.Helper()
	readAll(tb, l, func(_ uint64, payload []byte) { all = append(all, string(payload)) })
	return all
}

// frameCount opens the spool in a folder and counts the frames of all its logs.
func frameCount(tb testing.TB, dir string) (n int) {
	tb.Helper()
	for _, l := range reopen(tb, dir).Logs() {
		readAll(tb, l, func(uint64, []byte) { n++ })
	}
	return n
}

// reopen opens the spool of a folder, to read its older logs.
func reopen(tb testing.TB, dir string) *Spool {
	tb.Helper()
	s, err := Open(Config{Dir: dir, Label: "other"})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// older leaves a log of an earlier process with segments of three frames each in
// a new folder. It returns the folder and the paths of the segments.
func older(tb testing.TB, segments [][]string) (dir string, paths []string) {
	tb.Helper()
	dir = tb.TempDir()
	boot := "20260102T030405.678Z-0123456789abcdef"
	base := uint64(0)
	for _, payloads := range segments {
		b := newHeader(boot, "eu", base)
		path := filepath.Join(dir, boot, segmentName(base))
		for _, p := range payloads {
			b = addFrame(b, []byte(p))
			base += frameBytes(len(p))
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			tb.Fatal(err)
		}
		paths = append(paths, path)
	}
	return dir, paths
}
