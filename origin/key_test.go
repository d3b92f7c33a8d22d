package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
)

func TestKeyCommands(t *testing.T) {
	t.Parallel()
	env := one("WAYPOST_DATABASE_URL", services.Postgres(t))
	output := func(args ...string) string {
		t.Helper()
		var stdout bytes.Buffer
		if err := run(t.Context(), args, env, &stdout, io.Discard); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return stdout.String()
	}
	if got := output("migrate"); got != "" {
		t.Errorf("migrate printed %q", got)
	}
	key := strings.TrimSpace(output("key", "create", "--owner=ann", "--scopes=links:read", "--note", "for tests"))
	parts := strings.Split(key, "_")
	if len(parts) != 3 || parts[0] != "wp" {
		t.Fatalf("key create printed %q", key)
	}
	if got := output("key", "list"); !strings.Contains(got, parts[1]) || !strings.Contains(got, "for tests") || strings.Contains(got, parts[2]) {
		t.Errorf("key list printed\n%s", got)
	}
	output("key", "revoke", parts[1])
	if got := output("key", "list"); strings.Contains(got, parts[1]) {
		t.Errorf("key list shows a revoked key:\n%s", got)
	}
	if err := run(t.Context(), []string{"key", "revoke", parts[1]}, env, io.Discard, io.Discard); exitCode(err, io.Discard) != 1 {
		t.Errorf("revoking twice: %v, want exit 1", err)
	}
	admin := strings.Split(output("key", "create", "--scopes=admin"), "_")[1]
	err := run(t.Context(), []string{"key", "revoke", admin}, env, io.Discard, io.Discard)
	if exitCode(err, io.Discard) != 1 || !strings.Contains(err.Error(), "last admin key") {
		t.Errorf("revoking the last admin key: %v, want a refusal that says so", err)
	}
	output("key", "create", "--scopes=admin")
	output("key", "revoke", admin)
	if err := run(t.Context(), []string{"key", "create", "--owner=ann", "--scopes=admin"}, env, io.Discard, io.Discard); exitCode(err, io.Discard) != 2 {
		t.Errorf("confined admin key: %v, want exit 2", err)
	}
}

func TestKeysAreCreatedWithAnAllowance(t *testing.T) {
	t.Parallel()
	env := one("WAYPOST_DATABASE_URL", services.Postgres(t))
	for _, c := range []struct {
		flags []string
		want  []string // columns of the list; nil: exit 2
	}{
		{[]string{"--create-rate=0.5", "--create-burst=1000"}, []string{"0.5", "1000"}},
		{nil, []string{"default", "default"}},
		{[]string{"--create-burst=7"}, []string{"default", "7"}},
		{[]string{"--create-rate=0.001"}, nil},
		{[]string{"--create-rate=10001"}, nil},
		{[]string{"--create-burst=-1"}, nil},
	} {
		var text, list bytes.Buffer
		err := run(t.Context(), append([]string{"key", "create"}, c.flags...), env, &text, io.Discard)
		if c.want == nil {
			if exitCode(err, io.Discard) != 2 || !strings.Contains(err.Error(), "--create-") {
				t.Errorf("%v: %v, want exit 2 and the flag's name", c.flags, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%v: %v", c.flags, err)
		}
		if err := run(t.Context(), []string{"key", "list"}, env, &list, io.Discard); err != nil {
			t.Fatal(err)
		}
		id := strings.Split(text.String(), "_")[1]
		row := list.String()[strings.Index(list.String(), id):]
		row, _, _ = strings.Cut(row, "\n")
		if columns := strings.Fields(row); !slices.Equal(columns[len(columns)-2:], c.want) {
			t.Errorf("%v: listed as %q, want it to end in %v", c.flags, row, c.want)
		}
	}
}

func TestKeyListHasEveryKey(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	store := migrated(t, url)
	const keys = 2*links.MaxLimit + 1
	for i := range keys {
		if err := store.CreateKey(t.Context(), links.APIKey{ID: fmt.Sprintf("key%03d", i), Scopes: []string{links.ScopeLinksRead}}); err != nil {
			t.Fatal(err)
		}
	}
	var list bytes.Buffer
	if err := run(t.Context(), []string{"key", "list"}, one("WAYPOST_DATABASE_URL", url), &list, io.Discard); err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		if id := fmt.Sprintf("key%03d", i); strings.Count(list.String(), id) != 1 {
			t.Errorf("%s is listed %d times, want once", id, strings.Count(list.String(), id))
		}
	}
}

func TestKeyCreateSaysWhichScopesItGives(t *testing.T) {
	t.Parallel()
	env := one("WAYPOST_DATABASE_URL", services.Postgres(t))
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "with scopes links:read,links:write,stats:read, shown"},
		{[]string{"--scopes=stats:read", "--owner=ann"}, "with scopes stats:read, confined to links of ann, shown"},
		{[]string{"--scopes=admin"}, "with scopes admin, shown"},
	} {
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), append([]string{"key", "create"}, c.args...), env, &stdout, &stderr); err != nil {
			t.Fatalf("%v: %v", c.args, err)
		}
		if !strings.Contains(stderr.String(), c.want) || strings.Contains(stderr.String(), strings.TrimSpace(stdout.String())) {
			t.Errorf("%v: stderr = %q, want %q and not the key", c.args, &stderr, c.want)
		}
		if strings.Count(stdout.String(), "\n") != 1 || !strings.HasPrefix(stdout.String(), "wp_") {
			t.Errorf("%v: stdout = %q, want the key alone", c.args, &stdout)
		}
	}
	var help bytes.Buffer
	if err := run(t.Context(), []string{"key", "create", "--help"}, env, &help, io.Discard); exitCode(err, io.Discard) != 0 {
		t.Fatal(err)
	}
	for _, want := range []string{"left out, everything about links", "default links:read,links:write,stats:read"} {
		if !strings.Contains(help.String(), want) {
			t.Errorf("--help lacks %q:\n%s", want, &help)
		}
	}
}

func TestFirstKey(t *testing.T) {
	t.Parallel()
	handedIn := links.NewKeyText()
	for _, c := range []struct {
		name    string
		file    string // content before; "" = no file
		noFile  bool   // WAYPOST_ADMIN_KEY_FILE is not set
		exists  bool   // there is a key already
		wantErr string
	}{
		{name: "no file yet"},
		{name: "file is there", file: handedIn + "\n"},
		{name: "file of something else", file: "hello", wantErr: "holds no key"},
		{name: "without a file", noFile: true},
		{name: "not the first key", exists: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store, err := postgres.Open(t.Context(), postgres.Config{URL: services.Postgres(t)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(store.Close)
			if err := store.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			keys := links.NewKeys(store, time.Now)
			if c.exists {
				if _, _, err := keys.Make(t.Context(), &links.KeyInput{Scopes: links.Value([]string{links.ScopeAdmin})}); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(t.TempDir(), "admin.key")
			if c.file != "" {
				if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(path+".new", []byte("left by a start that was cut short"), 0o600); err != nil {
				t.Fatal(err)
			}
			given := path
			if c.noFile {
				given = ""
			}
			var stderr bytes.Buffer
			err = firstKey(t.Context(), keys, given, &stderr)
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) {
					t.Fatalf("firstKey = %v, want %q", err, c.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.exists {
				if _, err := os.Stat(path); err == nil {
					t.Error("a file was written for a key that was not made")
				}
				return
			}
			text := stderr.String()[strings.LastIndex(stderr.String(), " ")+1:]
			if !c.noFile {
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				text = string(b)
				if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
					t.Errorf("mode of the file = %v, want 0600", info.Mode())
				}
				if stderr.Len() > 0 {
					t.Errorf("stderr = %q, want the key in the file only", &stderr)
				}
			}
			if key, err := keys.Check(t.Context(), strings.TrimSpace(text)); err != nil || !key.Admin() {
				t.Errorf("key %q: %+v, %v, want an admin key", text, key, err)
			}
			if err := firstKey(t.Context(), keys, given, &stderr); err != nil {
				t.Errorf("the next start: %v", err)
			}
		})
	}
}
