package main

import (
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFollowersThatCannotStartSayWhy(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"an unknown flag", []string{"-m", "3"}, "-m"},
		{"no origin", []string{"-n", "2", "-nats", "nats://127.0.0.1:1"}, "not an http or https URL"},
	} {
		err := run(t.Context(), tt.args, none, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want one that says %q", tt.name, err, tt.want)
		}
	}
}
