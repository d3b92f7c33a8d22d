package contract

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	_ "github.com/oapi-codegen/nullable" // what the generated client needs, so that the module requires it
	_ "github.com/oapi-codegen/runtime"
)

// generated is where the program in testdata/client expects the generated client.
const generated = "testdata/client/waypost/waypost.gen.go"

// generatedClientWorks generates a client from the document as it is served, builds a program with it, and lets that do
// what programs do with links: it ends with an error if anything is not as it should be.
func (s *stage) generatedClientWorks(t *testing.T) {
	dir := t.TempDir()
	code := filepath.Join(dir, "client.go")
	s.generate(t, dir, code)
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	write(t, overlay, map[string]any{"Replace": map[string]string{filepath.Join(folder, generated): code}})
	program := filepath.Join(dir, "client")
	run(t, nil, "go", "build", "-overlay", overlay, "-o", program, "./testdata/client")
	o := s.newOwner(t)
	run(t, []string{"WAYPOST=http://" + s.fleet.Origins[0].API + prefix, "KEY=" + o.key}, program)
}

// generate writes the client's code to a file.
func (s *stage) generate(t *testing.T, dir, code string) {
	t.Helper()
	document, config := filepath.Join(dir, "openapi.json"), filepath.Join(dir, "config.json")
	served := s.do(t, request{method: http.MethodGet, path: "/openapi.json"})
	write(t, document, json.RawMessage(served.body))
	write(t, config, map[string]any{
		"package": "waypost", "output": code,
		"generate":       map[string]any{"models": true, "client": true},
		"output-options": map[string]any{"nullable-type": true},
	})
	run(t, nil, "go", "tool", "oapi-codegen", "-config", config, document)
}

func write(t *testing.T, path string, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs a command to its end, with more variables than those of this process.
func run(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}
