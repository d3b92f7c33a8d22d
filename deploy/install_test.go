package deploy

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// install runs install.sh with a PATH of stand-ins only: name to shell script.
func install(t *testing.T, programs map[string]string, args ...string) (said string, err error) {
	t.Helper()
	bin := t.TempDir()
	for name, script := range programs {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-c", InstallScript, "install.sh"}, args...)...)
	cmd.Env = []string{"PATH=" + bin}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestInstallScript(t *testing.T) {
	t.Parallel()
	apt := map[string]string{
		"id": "echo 1000", "apt-get": `echo "apt-get $*"`,
		"sudo": `while [ "$1" != apt-get ]; do if [ "$1" = tee ] || [ "$1" = chmod ] || [ "$1" = rm ]; then cat >/dev/null; exit 0; fi; shift; done; echo "sudo $*"`,
		"cat":  "", "redis-server": "",
	}
	without := func(names ...string) map[string]string {
		programs := maps.Clone(apt)
		for _, name := range names {
			delete(programs, name)
		}
		return programs
	}
	with := func(names ...string) map[string]string {
		programs := maps.Clone(apt)
		for _, name := range names {
			programs[name] = ""
		}
		return programs
	}
	tests := []struct {
		name     string
		programs map[string]string
		args     []string
		fails    bool
		want     []string
	}{
		{"nothing to do", without("apt-get", "sudo"), []string{"redis-server"}, false, nil},
		{
			"by sudo, with the C library's headers", apt,
			[]string{"gcc", "redis-server"},
			false,
			[]string{"sudo apt-get -q", " update", "install -y --no-install-recommends gcc libc6-dev\n"},
		},
		{"curl, for the lines of the docs", apt, []string{"curl"}, false, []string{"install -y --no-install-recommends curl\n"}},
		{
			"a package of another name than its program", apt,
			[]string{"nodejs"},
			false,
			[]string{"install -y --no-install-recommends nodejs\n"},
		},
		{"a program of another name than its package", with("node", "npm", "varnishd"), []string{"nodejs", "npm", "varnish"}, false, nil},
		{"neither root nor sudo", without("sudo"), []string{"gcc"}, true, []string{"as root: apt-get install --no-install-recommends gcc libc6-dev"}},
		{"no apt-get", without("apt-get"), []string{"gcc"}, true, []string{"missing: gcc libc6-dev; there is no apt-get here"}},
		{"a load generator", with("wrk"), []string{"wrk", "curl"}, false, []string{"install -y --no-install-recommends curl\n"}},
		{"unknown name", apt, []string{"emacs"}, true, []string{"unknown name: emacs"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			said, err := install(t, tt.programs, tt.args...)
			if (err != nil) != tt.fails {
				t.Errorf("error %v, want one: %t\n%s", err, tt.fails, said)
			}
			if len(tt.want) == 0 && said != "" {
				t.Errorf("it says %q, want nothing", said)
			}
			for _, want := range tt.want {
				if !strings.Contains(said, want) {
					t.Errorf("it says %q, want %q in it", said, want)
				}
			}
		})
	}
}
