package measure

import (
	"bytes"
	"os/exec"
	"testing"
)

// GoBench runs benchmarks of a package without the race detector, one after the other; args go to `go test`.
func GoBench(t *testing.T, pkg, pattern string, args ...string) Benchmarks {
	t.Helper()
	out := GoTest(t, nil, append(append([]string{"-run", "^$", "-bench", pattern, "-benchmem"}, args...), pkg)...)
	found, err := ParseBenchmarks(out)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// GoTest runs `go test` without the race detector, with variables added to the environment, and returns what it said.
func GoTest(t *testing.T, env []string, args ...string) *bytes.Buffer {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-count=1"}, args...)...) //nolint:gosec // the caller's own packages
	cmd.Env = append(cmd.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return bytes.NewBuffer(out)
}
