package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"waypost/deploy/services"
	"waypost/shared/settings"
)

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestABadBlockFileEndsTheStartWithItsLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "blocked")
	writeFile(t, path, "# bad hosts\nbad.example\n\nhttp://worse.example/\n")
	for file, want := range map[string]string{path: "line 4", path + "-missing": "cannot be read"} {
		_, err := openBlockFile(file)
		if _, ok := err.(*settings.FaultsError); !ok || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "WAYPOST_BLOCK_FILE") { //nolint:errorlint // as main looks at it
			t.Errorf("%s: got %v, want a fault of the setting with %q", file, err, want)
		}
	}
}

// A file that cannot be read leaves what was read before, and is looked at again
// when it changes.
func TestTheLastGoodBlockFileStays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "blocked")
	writeFile(t, path, "bad.example\n")
	f, err := openBlockFile(path)
	if err != nil || len(f.read) != 1 {
		t.Fatalf("got %+v, %v, want one host", f, err)
	}
	writeFile(t, path, "bad.example\n*.worse.example\n..\n")
	if f.stamp() == f.seen {
		t.Error("a change is not seen")
	}
	if err := f.load(); err == nil || len(f.read) != 1 || f.stamp() != f.seen {
		t.Errorf("a bad file: got %v and %v, want the last good one, and this one seen", err, f.read)
	}
	writeFile(t, path, "bad.example\n*.worse.example\n")
	if err := f.load(); err != nil || !f.read["worse.example"] {
		t.Errorf("got %v, %v, want both hosts", f.read, err)
	}
}

func TestABlockFileThatFindsNoRoomIsTakenOverOnceThereIsSome(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	store := migrated(t, url)
	fill(t, store, 0)
	path := filepath.Join(t.TempDir(), "blocked")
	writeFile(t, path, "bad.example\n")
	o := start(t, map[string]string{"WAYPOST_DATABASE_URL": url, "WAYPOST_BLOCK_FILE": path})
	o.awaitReady()
	const told = "no room for all of the block file"
	blocked := func() bool {
		status, body := o.call("GET", o.public+"/api/v1/blocks", "", o.adminKey())
		return status == 200 && strings.Contains(string(body), "bad.example")
	}
	if blocked() || strings.Count(o.stderr.String(), told) != 1 {
		t.Fatalf("blocked %v, want not, and the log to say why:\n%s", blocked(), o.stderr)
	}
	fill(t, store, 1<<10)
	o.await("the host to be blocked", blocked)
	if n := strings.Count(o.stderr.String(), told); n != 1 {
		t.Errorf("told %d times, want once", n)
	}
}
