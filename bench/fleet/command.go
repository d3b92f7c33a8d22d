package fleet

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
)

// Command runs a command of the origin's binary beside the process, with the same environment, and returns what it
// printed. It must end in time and with exit status 0.
func (o *Origin) Command(tb testing.TB, args ...string) string {
	tb.Helper()
	path, err := o.binaries.Path(tb.Context(), o.binary)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // the binary under test
	cmd.Env = o.environment()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		tb.Fatalf("%s %s: %v: %s", o.binary, strings.Join(args, " "), err, &errs)
	}
	return strings.TrimSpace(out.String())
}
