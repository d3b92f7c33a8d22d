package deploy

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// maxImage bounds the size in bytes of what an image holds.
const maxImage = 40 << 20

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// dockerfile is what the tests want to know of one.
type dockerfile struct {
	path  string
	lines []string
}

func readDockerfile(t *testing.T, service string) dockerfile {
	t.Helper()
	path := service + ".Dockerfile"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return dockerfile{path: path, lines: strings.Split(string(b), "\n")}
}

// with returns the rest of every line that begins with the word.
func (d dockerfile) with(word string) []string {
	var rest []string
	for _, line := range d.lines {
		if r, ok := strings.CutPrefix(line, word+" "); ok {
			rest = append(rest, r)
		}
	}
	return rest
}

// buildLine returns the RUN line that makes the binary.
func (d dockerfile) buildLine(t *testing.T) string {
	t.Helper()
	for _, run := range d.with("RUN") {
		if strings.Contains(run, "go build") {
			return run
		}
	}
	t.Fatalf("%s has no go build", d.path)
	return ""
}

func TestImagesAreStaticSmallAndNotRoot(t *testing.T) {
	t.Parallel()
	for _, service := range []string{"edge", "origin"} {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			d := readDockerfile(t, service)
			if from := d.with("FROM"); len(from) != 2 || from[1] != "scratch" {
				t.Errorf("stages %v, want a build and scratch", from)
			}
			if user := d.with("USER"); len(user) != 1 || user[0] != "65532:65532" {
				t.Errorf("USER %v, want 65532:65532", user)
			}
			for _, word := range []string{"ENV", "ARG"} {
				if lines := d.with(word); len(lines) > 0 {
					t.Errorf("%s %v: the environment brings settings and secrets, not the image", word, lines)
				}
			}

			out := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", strings.ReplaceAll(d.buildLine(t), "/out/", out+"/"))
			cmd.Dir = root
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", d.buildLine(t), err, said)
			}
			binary := filepath.Join(out, "waypost-"+service)
			f, err := elf.Open(binary)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close() //nolint:errcheck // read only
			for _, p := range f.Progs {
				if p.Type == elf.PT_INTERP {
					t.Errorf("%s wants a dynamic linker, which scratch does not have", binary)
				}
			}
			if f.Section(".debug_info") != nil || f.Section(".symtab") != nil {
				t.Errorf("%s is not stripped", binary)
			}
			info, err := os.Stat(binary)
			if err != nil {
				t.Fatal(err)
			}
			if info.Size() > maxImage {
				t.Errorf("%s has %d bytes, want at most %d", binary, info.Size(), maxImage)
			}
		})
	}
}

func TestImagesAreBuiltWithTheWorkspacesGo(t *testing.T) {
	t.Parallel()
	work, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(work)
	if version == nil {
		t.Fatal("go.work names no Go version")
	}
	for _, service := range []string{"edge", "origin"} {
		from := readDockerfile(t, service).with("FROM")
		if want := "golang:" + string(version[1]) + "-"; len(from) == 0 || !strings.HasPrefix(from[0], want) {
			t.Errorf("%s is built from %v, want %s…", service, from, want)
		}
	}
}

// TestImagesFindWhatTheyCopy checks the build context: every source named by COPY exists and is not held back.
func TestImagesFindWhatTheyCopy(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	let := make(map[string]bool)
	for line := range strings.Lines(string(b)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "!"); ok {
			let[path] = true
		}
	}
	for _, service := range []string{"edge", "origin"} {
		for _, copied := range readDockerfile(t, service).with("COPY") {
			if strings.HasPrefix(copied, "--from") {
				continue
			}
			fields := strings.Fields(copied)
			for _, source := range fields[:len(fields)-1] {
				matches, err := filepath.Glob(filepath.Join(root, source))
				if err != nil || len(matches) == 0 {
					t.Errorf("%s copies %s, which is not there (%v)", service, source, err)
				}
				for _, match := range matches {
					path := strings.TrimPrefix(match, root+"/")
					top, _, _ := strings.Cut(path, "/")
					if !let[path] && !let[top] {
						t.Errorf("%s copies %s, which .dockerignore holds back", service, path)
					}
				}
			}
		}
	}
}
