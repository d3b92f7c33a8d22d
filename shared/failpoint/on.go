//go:build failpoint

package failpoint

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Hit does what the point's file says, if there is one. Of passes at the same time one does it. An unknown word is a
// panic: a test that arms nothing must not pass. Safe for concurrent use.
func Hit(p Point) {
	switch word, armed := take(p); {
	case !armed:
	case word == Kill:
		signal(syscall.SIGKILL)
	case word == Stop:
		signal(syscall.SIGSTOP)
	default:
		panic("failpoint " + string(p) + ": " + word)
	}
}

// signalTime is far more than it takes until a signal has stopped all threads.
const signalTime = 50 * time.Millisecond

// signal sends this process a signal and returns when somebody has let it go on.
func signal(s syscall.Signal) {
	_ = syscall.Kill(os.Getpid(), s)
	<-time.After(signalTime)
}

// Clock is the clock that was read, shifted by the duration in the file of WallClock. The first read of a process
// decides for all of them. Safe for concurrent use.
func Clock(read time.Time) time.Time { return read.Add(shift()) }

// shift is a process' own, hence a global.
var shift = sync.OnceValue(func() time.Duration { //nolint:gochecknoglobals // see above
	word, armed := take(WallClock)
	if !armed {
		return 0
	}
	d, err := time.ParseDuration(word)
	if err != nil {
		panic("failpoint " + string(WallClock) + ": " + err.Error())
	}
	return d
})

// take uses a file up.
func take(p Point) (word string, armed bool) {
	dir := os.Getenv(Folder) //nolint:forbidigo // main must not know of failpoints
	if dir == "" {
		return "", false
	}
	path := filepath.Join(dir, string(p))
	b, err := os.ReadFile(path)               //nolint:gosec // the test's own file
	if err != nil || os.Remove(path) != nil { //nolint:gosec // as above
		return "", false
	}
	return string(b), true
}
