package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestKeyThatIsNoLongerValidIsReplacedByTheCommandThatIsShown(t *testing.T) {
	t.Parallel()
	path, data := buildStack(t), filepath.Join(reachableDir(t), "it's data")
	l := launch(t, path, data, "WAYPOST_TEST_REVOKED=1")
	l.awaitReady(t)
	said := l.stdout.String()
	if strings.Contains(said, "wp_test_key") {
		t.Errorf("a key that is no longer valid was shown:\n%s", said)
	}
	password, err := os.ReadFile(filepath.Join(data, "postgres.password"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(said, strings.TrimSpace(string(password))) {
		t.Errorf("the password of the database was shown:\n%s", said)
	}
	command := regexp.MustCompile(`(?m)^  (\(.*key create --scopes admin.*\))$`).FindStringSubmatch(said)
	if command == nil {
		t.Fatalf("no command that makes a key:\n%s", said)
	}
	out, err := exec.CommandContext(within(t), "/bin/sh", "-c", command[1]).CombinedOutput()
	if err != nil || string(out) != "wp_rescue_key\n" {
		t.Errorf("%s: %q, %v; want the key", command[1], out, err)
	}
	authorization := regexp.MustCompile(`-H "(Authorization[^\n]*?)" -H`).FindStringSubmatch(said)
	if authorization == nil {
		t.Fatalf("no line to try:\n%s", said)
	}
	out, err = exec.CommandContext(within(t), "/bin/sh", "-c", `echo "`+authorization[1]+`"`).CombinedOutput()
	if err != nil || string(out) != "Authorization: Bearer wp_rescue_key\n" {
		t.Errorf("the line to try sends %q, %v; want the new key", out, err)
	}
	url, err := os.ReadFile(filepath.Join(data, "database.url"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(within(t), strings.TrimSpace(string(url)))
	if err != nil {
		t.Fatalf("the address in database.url: %v", err)
	}
	if err := conn.Close(within(t)); err != nil {
		t.Error(err)
	}
}

func TestRescueUsesTheDatabaseOfTheStack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ env, want string }{
		{"", "(umask 077; WAYPOST_DATABASE_URL_FILE=/data/database.url /bin/waypost-origin key create --scopes admin | tee /data/admin.key)"},
		{"WAYPOST_DATABASE_URL_FILE=/a b", "(umask 077; WAYPOST_DATABASE_URL_FILE='/a b' /bin/waypost-origin key create --scopes admin | tee /data/admin.key)"},
		{"WAYPOST_DATABASE_URL=postgres://u:hidden@h/d", "(umask 077; /bin/waypost-origin key create --scopes admin | tee /data/admin.key)"},
		{"WAYPOST_ADMIN_KEY_FILE=/k", "(umask 077; WAYPOST_DATABASE_URL_FILE=/data/database.url /bin/waypost-origin key create --scopes admin | tee /k)"},
	} {
		if got := rescue(config{data: "/data", bin: "/bin", env: []string{c.env}}); got != c.want {
			t.Errorf("with %q:\n got %s\nwant %s", c.env, got, c.want)
		}
	}
}

func TestKeyIsShownWhereTheOriginDoesNotAnswer(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", at(0))
	if err != nil {
		t.Fatal(err)
	}
	port := closed.Addr().(*net.TCPAddr).Port
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	c := config{data: t.TempDir(), ports: ports{originAPI: port}}
	if got := adminKey(within(t), c); got != "" {
		t.Errorf("key without a file = %q, want none", got)
	}
	if err := os.WriteFile(c.keyPath(), []byte("wp_x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := adminKey(within(t), c); got != "wp_x" {
		t.Errorf("key = %q, want that of the file", got)
	}
}

func TestLinesToTryTakeAnotherAliasEachTime(t *testing.T) {
	t.Parallel()
	alias := regexp.MustCompile(`hello-[a-z2-7]{4}\b`)
	first, second := alias.FindAllString(welcome(config{}, "k"), -1), alias.FindAllString(welcome(config{}, "k"), -1)
	if len(first) != 3 || first[0] != first[1] || first[0] != first[2] || len(second) != 3 || first[0] == second[0] {
		t.Errorf("aliases %v and %v, want each in three lines and different ones", first, second)
	}
}
