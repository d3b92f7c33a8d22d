package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSecretIsMadeOnceAndForTheOwnerOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	first, err := secret(path)
	if err != nil || len(first) < 26 {
		t.Fatalf("secret = %q, %v; want 26 characters", first, err)
	}
	if again, err := secret(path); err != nil || again != first {
		t.Errorf("second call = %q, %v; want %q", again, err, first)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	other, err := secret(path + "2")
	if err != nil || other == first {
		t.Errorf("another secret = %q, %v; want one of its own", other, err)
	}
}

func TestPIDFileListsRunningPartsInOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pids")
	f := newPIDFile(path)
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return f.set("b", 2) }, "b 2\n"},
		{func() error { return f.set("a", 1) }, "b 2\na 1\n"},
		{func() error { return f.clear("b") }, "a 1\n"},
		{func() error { return f.set("b", 3) }, "b 3\na 1\n"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != step.want {
			t.Errorf("pid file %q, %v; want %q", got, err, step.want)
		}
	}
	if left, err := filepath.Glob(path + ".*"); err != nil || len(left) > 0 {
		t.Errorf("temporary files %v, %v; want none", left, err)
	}
}

func TestLogIsSetAsideAtItsLimit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "part.log")
	l := &logFile{path: path, limit: 11}
	if err := l.open(); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"one\n", "two\n", "three\n", "four\n"} {
		if n, err := l.Write([]byte(line)); n != len(line) || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	if got := string(l.tail(5)); got != "four\n" {
		t.Errorf("tail = %q, want four", got)
	}
	again := &logFile{path: path, limit: 100}
	if err := again.open(); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Write([]byte("five\n")); err != nil {
		t.Fatal(err)
	}
	if got := string(again.tail(100)); got != "five\n" {
		t.Errorf("tail of a log that was opened again = %q, want five alone", got)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{path: "three\nfour\nfive\n", path + ".1": "one\ntwo\n"} {
		got, err := os.ReadFile(file)
		if want = strings.TrimSpace(want); err != nil || string(bytes.TrimSpace(got)) != want {
			t.Errorf("%s = %q, %v; want %q", filepath.Base(file), got, err, want)
		}
	}
	if n, err := l.Write([]byte("late")); n != 4 || err != nil {
		t.Errorf("Write after Close = %d, %v; want it swallowed", n, err)
	}
}

func TestClusterOfAnUnreachableDataFolderGoesElsewhereAndStaysThere(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		// Without root PostgreSQL runs as this user, who reaches every folder of its own.
		c := config{data: t.TempDir()}
		if got, err := clusterFolder(c); err != nil || got != c.path("postgres") {
			t.Errorf("cluster = %s, %v; want it inside %s", got, err, c.data)
		}
		return
	}
	closed := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	c := config{data: filepath.Join(closed, "data")}
	if err := makeDataFolder(c.data); err != nil {
		t.Fatal(err)
	}
	first, err := clusterFolder(c)
	if err != nil || !strings.HasPrefix(first, elsewhere+"/") {
		t.Fatalf("cluster = %s, %v; want it under %s", first, err, elsewhere)
	}
	if again, err := clusterFolder(c); err != nil || again != first {
		t.Errorf("second run's cluster = %s, %v; want the same, %s", again, err, first)
	}
}
