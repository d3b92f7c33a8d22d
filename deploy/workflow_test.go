package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestWorkflowsRunTargetsThatExist keeps CI and the Makefile in step.
func TestWorkflowsRunTargetsThatExist(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{".ci/run", ".github/workflows/ci.yml"} {
		b, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		targets := make(map[string]bool)
		for _, call := range regexp.MustCompile(`(?m)(?:^|run: )make ([a-z-]+)$`).FindAllSubmatch(b, -1) {
			name := string(call[1])
			targets[name] = true
			if !regexp.MustCompile(`(?m)^` + name + `:`).Match(makefile) {
				t.Errorf("%s calls make %s, which the Makefile does not have", path, name)
			}
		}
		for _, want := range []string{"check", "test"} {
			if !targets[want] {
				t.Errorf("%s does not call make %s", path, want)
			}
		}
	}
}
