package fleet

import "testing"

// PID is the id of the process that runs now.
func (p *Process) PID(tb testing.TB) int {
	tb.Helper()
	proc := p.current()
	if proc == nil {
		tb.Fatalf("%s does not run", p.Name)
	}
	return proc.PID()
}
