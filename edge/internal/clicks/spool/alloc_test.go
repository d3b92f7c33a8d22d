//go:build !race

package spool

import "testing"

func TestAllocAppendDoesNot(t *testing.T) {
	s, stop := start(t, Config{Dir: t.TempDir()})
	defer stop()
	payload := make([]byte, 90)
	if got := testing.AllocsPerRun(2000, func() { s.Append(payload) }); got != 0 {
		t.Errorf("got %v allocations an append, want none", got)
	}
}
