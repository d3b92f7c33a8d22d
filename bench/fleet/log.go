package fleet

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// logTail is how much of a log a failed test prints, in bytes.
const logTail = 16 << 10

// logFile takes the words of all processes that ran under one name.
type logFile struct {
	name string
	file *os.File
}

// newLog opens a log that is judged, and printed if the test failed, at the test's end.
func newLog(tb testing.TB, name string) *logFile {
	tb.Helper()
	file, err := os.OpenFile(filepath.Join(tb.TempDir(), name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // a file in the test's own folder
	if err != nil {
		tb.Fatalf("log of %s: %v", name, err)
	}
	l := &logFile{name: name, file: file}
	tb.Cleanup(func() { l.judge(tb) })
	return l
}

// Read returns everything written so far.
func (l *logFile) read() []byte {
	b, err := os.ReadFile(l.file.Name())
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

// judge fails the test for what must stand in no log.
func (l *logFile) judge(tb testing.TB) {
	tb.Helper()
	text := l.read()
	for _, mark := range []string{"DATA RACE", "panic: ", "fatal error: ", `handler panicked`, `panic in an`} {
		if at := bytes.Index(text, []byte(mark)); at >= 0 {
			tb.Errorf("%s: its log says %q:\n%s", l.name, mark, text[at:min(len(text), at+logTail)])
		}
	}
	if tb.Failed() {
		tb.Logf("log of %s, its end:\n%s", l.name, text[max(0, len(text)-logTail):])
	}
	if err := l.file.Close(); err != nil {
		tb.Errorf("log of %s: %v", l.name, err)
	}
}
