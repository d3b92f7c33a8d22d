package services

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// MissingError says that a server's program is not on this machine and which Debian or Ubuntu package has it.
type MissingError struct {
	Program string
	Package string
}

// Error names the command that installs what is missing.
func (e *MissingError) Error() string {
	return fmt.Sprintf("%s not found: install it with `apt-get install %s`, or put it on PATH", e.Program, e.Package)
}

// debianPostgres is where Debian and Ubuntu keep the servers, a folder a major version, outside PATH.
const debianPostgres = "/usr/lib/postgresql"

// clusterVersion is the file in a cluster that names the major version it was made with.
const clusterVersion = "PG_VERSION"

// FindPostgres returns the folder that holds initdb and postgres of one version: Debian's newest, else PATH's.
// The error is a *MissingError when there is none.
func FindPostgres() (dir string, err error) {
	dirs, err := filepath.Glob(filepath.Join(debianPostgres, "*", "bin"))
	if err != nil {
		return "", err
	}
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Compare(major(b), major(a)) })
	for _, d := range dirs {
		if executable(filepath.Join(d, "initdb")) && executable(filepath.Join(d, "postgres")) {
			return d, nil
		}
	}
	for _, program := range []string{"postgres", "initdb"} {
		path, err := exec.LookPath(program)
		if err != nil {
			return "", &MissingError{Program: program, Package: "postgresql"}
		}
		dir = filepath.Dir(path)
	}
	return dir, nil
}

// findFor returns the programs of the version that made the cluster in dir, since no other can run it, as far as that
// version is installed; for a new cluster those of FindPostgres.
func findFor(dir string) (string, error) {
	version, err := os.ReadFile(filepath.Join(dir, clusterVersion)) //nolint:gosec // the cluster's folder
	if err == nil {
		same := filepath.Join(debianPostgres, string(bytes.TrimSpace(version)), "bin")
		if executable(filepath.Join(same, "postgres")) {
			return same, nil
		}
	}
	return FindPostgres()
}

// FindRedis returns the path of redis-server, or a *MissingError.
func FindRedis() (string, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return "", &MissingError{Program: "redis-server", Package: "redis-server"}
	}
	return filepath.Abs(path)
}

// major reads 15 out of /usr/lib/postgresql/15/bin; 0 when it is no number.
func major(bin string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	if err != nil {
		return 0
	}
	return n
}

func executable(path string) bool {
	info, err := os.Stat(path) //nolint:gosec // one of the places servers are installed in
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
