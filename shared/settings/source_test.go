package settings_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"waypost/shared/settings"
)

type secretive struct {
	Secret string `env:"WAYPOST_INTERNAL_SECRET" secret:"true" help:"shared with the origins"`
	Plain  string `env:"WAYPOST_PLAIN"`
	Pin    int    `env:"WAYPOST_PIN" secret:"true" default:"1234" max:"9999"`
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadReadsSecretsFromFiles(t *testing.T) {
	t.Parallel()
	most := strings.Repeat("s", 64<<10)
	tests := []struct{ name, content, want string }{
		{"no newline", "hunter2", "hunter2"},
		{"newline", "hunter2\n", "hunter2"},
		{"carriage return and newline", "hunter2\r\n", "hunter2"},
		{"only the last newline goes", " a \nb\n\n", " a \nb\n"},
		{"largest", most, most},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := file(t, tt.content)
			var byEnv, byFlag secretive
			if _, err := settings.Load(&byEnv, nil, env(map[string]string{"WAYPOST_INTERNAL_SECRET_FILE": path})); err != nil {
				t.Fatalf("Load from the environment: %v", err)
			}
			if _, err := settings.Load(&byFlag, []string{"--internal-secret-file", path}, env(nil)); err != nil {
				t.Fatalf("Load from flags: %v", err)
			}
			if byEnv.Secret != tt.want || byFlag.Secret != tt.want {
				t.Errorf("secret by environment %.80q, by flag %.80q, want %.80q", byEnv.Secret, byFlag.Secret, tt.want)
			}
		})
	}
}

func TestLoadPrefersASecretFlagToASecretVariable(t *testing.T) {
	t.Parallel()
	var cfg secretive
	vars := map[string]string{"WAYPOST_INTERNAL_SECRET_FILE": filepath.Join(t.TempDir(), "absent")}
	if _, err := settings.Load(&cfg, []string{"--internal-secret=flag"}, env(vars)); err != nil {
		t.Fatalf("Load: %v", err)
	}
	if cfg.Secret != "flag" {
		t.Errorf("secret = %q, want the flag's", cfg.Secret)
	}
}

func TestLoadRefusesBadSecretsWithoutPrintingThem(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	tests := []struct {
		name string
		args []string
		vars map[string]string
		want string
	}{
		{
			"variable and file",
			nil,
			map[string]string{"WAYPOST_INTERNAL_SECRET": secret, "WAYPOST_INTERNAL_SECRET_FILE": file(t, secret)},
			"WAYPOST_INTERNAL_SECRET_FILE: is set together with WAYPOST_INTERNAL_SECRET",
		},
		{
			"flag and file flag",
			[]string{"--internal-secret", secret, "--internal-secret-file", file(t, secret)},
			nil,
			"--internal-secret-file: is set together with --internal-secret",
		},
		{
			"the secret in place of a path",
			nil,
			map[string]string{"WAYPOST_INTERNAL_SECRET_FILE": secret},
			"WAYPOST_INTERNAL_SECRET_FILE: names a file that cannot be read: no such file or directory",
		},
		{
			"directory",
			nil,
			map[string]string{"WAYPOST_INTERNAL_SECRET_FILE": t.TempDir()},
			"WAYPOST_INTERNAL_SECRET_FILE: names a file that cannot be read: is a directory",
		},
		{
			"empty file",
			nil,
			map[string]string{"WAYPOST_INTERNAL_SECRET_FILE": file(t, "\n")},
			"WAYPOST_INTERNAL_SECRET_FILE: names an empty file",
		},
		{
			"too large a file",
			nil,
			map[string]string{"WAYPOST_INTERNAL_SECRET_FILE": file(t, strings.Repeat("s", 64<<10+1))},
			"WAYPOST_INTERNAL_SECRET_FILE: names a file of more than 65536 bytes",
		},
		{"bad value", nil, map[string]string{"WAYPOST_PIN": secret}, "WAYPOST_PIN: is not a whole number"},
		{"bad value in a file", nil, map[string]string{"WAYPOST_PIN_FILE": file(t, secret)}, "WAYPOST_PIN_FILE: is not a whole number"},
		{"out of range", nil, map[string]string{"WAYPOST_PIN": "10000"}, "WAYPOST_PIN: is above 9999"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var cfg secretive
			got := faults(t, &cfg, tt.args, tt.vars)
			if want := []string{tt.want}; !slices.Equal(got, want) {
				t.Errorf("faults = %q, want %q", got, want)
			}
		})
	}
}

func TestLoadReadsNoFileForASettingThatIsNoSecret(t *testing.T) {
	t.Parallel()
	var cfg secretive
	if _, err := settings.Load(&cfg, nil, env(map[string]string{"WAYPOST_PLAIN_FILE": file(t, "x")})); err != nil {
		t.Fatalf("Load: %v", err)
	}
	if cfg.Plain != "" {
		t.Errorf("plain = %q, want it unset", cfg.Plain)
	}
}
