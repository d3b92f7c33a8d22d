//go:build !race

package feed

import "testing"

func TestAKeptJudgementDoesNotAllocate(t *testing.T) {
	e := liveEntry()
	e.Epoch = 1
	list := blocking(t, "suffix", "bad.example").Blocks()
	if got := testing.AllocsPerRun(1000, func() { list.Judge(e) }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// A domain's URLs are looked up for each visitor who is sent there.
func TestToLookAHostUpDoesNotAllocate(t *testing.T) {
	list := blocking(t, "suffix", "bad.example").Blocks()
	if got := testing.AllocsPerRun(1000, func() { list.Blocked("a.long.name.of.a.host.that.is.not.blocked.example") }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}
