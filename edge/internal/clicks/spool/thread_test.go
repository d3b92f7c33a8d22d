package spool

import (
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAThreadInACallThatDoesNotReturnSleeps(t *testing.T) {
	t.Parallel()
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	var reader sync.WaitGroup
	tid := make(chan int, 1)
	reader.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if sleeps(unix.Gettid()) {
			t.Error("a thread that runs is said to sleep")
		}
		tid <- unix.Gettid()
		_, _ = unix.Read(pipe[0], make([]byte, 1))
	})
	reads := <-tid
	eventually(t, "the reader to sleep", func() bool { return sleeps(reads) })
	_ = unix.Close(pipe[1])
	reader.Wait()
	_ = unix.Close(pipe[0])
	if !sleeps(-1) {
		t.Error("a thread that nobody knows is said to run")
	}
}
