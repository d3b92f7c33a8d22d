package spool

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"testing"
)

// children are what a child process of these tests can be.
func children() map[string]func(dir, candidate string) {
	return map[string]func(dir, candidate string){
		"append": appendForEver,
		"probe":  answerProbes,
	}
}

// child is this test binary once more, in another role.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func newChild(tb testing.TB, role, dir, candidate string) *child {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), os.Args[0]) // killed at the latest when the test ends
	cmd.Env = append(os.Environ(), "SPOOL_TEST_CHILD="+role, "SPOOL_TEST_DIR="+dir, "SPOOL_TEST_CANDIDATE="+candidate)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	return &child{cmd, in, bufio.NewReader(out)}
}
