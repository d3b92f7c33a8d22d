package chaos

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"waypost/shared/failpoint"
)

// traces are what a binary with failpoints has and no other one: the name of their variable, and of their package, which
// is gone from the others with all that it does.
func traces(t *testing.T, binary string) (found []string) {
	t.Helper()
	b, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, trace := range []string{failpoint.Folder, "waypost/shared/failpoint"} {
		if bytes.Contains(b, []byte(trace)) {
			found = append(found, trace)
		}
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			found = append(found, "-tags="+s.Value)
		}
	}
	return found
}

func TestReleaseHasNoFailpoints(t *testing.T) {
	t.Parallel()
	for _, service := range []string{"edge", "origin"} {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			if found := traces(t, release(t, service)); len(found) > 0 {
				t.Errorf("the released binary has %q", found)
			}
			tested, err := bin.Path(t.Context(), "waypost-"+service)
			if err != nil {
				t.Fatal(err)
			}
			if found := traces(t, tested); len(found) != 3 {
				t.Errorf("the binary with failpoints has only %q: nothing tells it from a released one", found)
			}
		})
	}
}

// release builds a service as its image does.
func release(t *testing.T, service string) (binary string) {
	t.Helper()
	root := filepath.Join("..", "..")
	dockerfile, err := os.ReadFile(filepath.Join(root, "deploy", service+".Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^RUN (.*go build.*)$`).FindSubmatch(dockerfile)
	if line == nil {
		t.Fatalf("the image of %s builds nothing", service)
	}
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", strings.ReplaceAll(string(line[1]), "/out/", out+"/"))
	cmd.Dir = root
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line[1], err, said)
	}
	return filepath.Join(out, "waypost-"+service)
}
