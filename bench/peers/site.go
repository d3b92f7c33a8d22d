package peers

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"time"

	"waypost/bench/fleet"
	"waypost/deploy/freeport"
	"waypost/deploy/process"
	"waypost/deploy/services"
)

// startLimit bounds the start of a peer, and stopLimit its end. A million links take nginx some seconds to read.
const (
	startLimit = time.Minute
	stopLimit  = 10 * time.Second
)

// logTail is how much of its log a failed test prints, in bytes.
const logTail = 4 << 10

// site is where a peer is put up.
type site struct {
	name  Name
	links []fleet.Link
	core  int
	dir   string // its own
	addr  string // free
}

func newSite(tb testing.TB, name Name, links []fleet.Link, core int) *site {
	tb.Helper()
	if len(links) == 0 {
		tb.Fatalf("%s: no links", name)
	}
	return &site{name: name, links: links, core: core, dir: tb.TempDir(), addr: freeAddr(tb)}
}

// freeAddr is an address that is the caller's until the tests end.
func freeAddr(tb testing.TB) string {
	tb.Helper()
	addr, err := freeport.Find(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return addr
}

// port is that of the address.
func (s *site) port() string {
	_, port, _ := net.SplitHostPort(s.addr)
	return port
}

// path is that of a file of the site.
func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

// write makes a file of the site.
func (s *site) write(tb testing.TB, name string, content []byte) (path string) {
	tb.Helper()
	path = s.path(name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatalf("%s: %v", s.name, err)
	}
	return path
}

// config makes a file of the site from a template.
func (s *site) config(tb testing.TB, name, text string, values any) (path string) {
	tb.Helper()
	var b bytes.Buffer
	if err := template.Must(template.New(name).Parse(text)).Execute(&b, values); err != nil {
		tb.Fatalf("%s: %v", s.name, err)
	}
	return s.write(tb, name, b.Bytes())
}

// table makes a file of all links, a line each of this format for path and target, in which they stand as they are.
func (s *site) table(tb testing.TB, name, format string) (path string) {
	tb.Helper()
	var b bytes.Buffer
	for _, l := range s.links {
		if strings.ContainsAny(l.Target, "\"\\$ \n") {
			tb.Fatalf("%s: the target %q needs quoting", s.name, l.Target)
		}
		fmt.Fprintf(&b, format+"\n", l.Path(), l.Target)
	}
	return s.write(tb, name, b.Bytes())
}

// run starts a program on the site's core until the test ends, waits until it answers the first link, and returns its
// id. add goes to its environment.
func (s *site) run(tb testing.TB, add []string, program string, args ...string) (pid int) {
	tb.Helper()
	log, err := os.Create(s.path("output.log"))
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(tb.Context(), startLimit)
	defer cancel()
	spec := process.Spec{Name: string(s.name), Path: program, Args: args, Add: add, Dir: s.dir, Output: log, Ready: s.answers}
	if s.core != Anywhere { // taskset becomes the program
		spec.Path, spec.Args = "taskset", append([]string{"--cpu-list", strconv.Itoa(s.core), program}, args...)
	}
	p, err := process.Start(ctx, spec)
	if err != nil {
		tb.Fatalf("%v; it said:\n%s", err, tail(log.Name()))
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), stopLimit)
		defer cancel()
		select {
		case <-p.Done():
			tb.Errorf("%s ended by itself: %v", s.name, p.Wait())
		default:
		}
		if err := p.Stop(ctx); err != nil {
			tb.Errorf("%s: %v", s.name, err)
		}
		if tb.Failed() {
			tb.Logf("%s said:\n%s", s.name, tail(log.Name()))
		}
		_ = log.Close()
	})
	return p.PID()
}

// answers is nil once the first link is answered.
func (s *site) answers(ctx context.Context, _ int) error {
	conn, err := fleet.Connect(ctx, s.addr, netip.Addr{})
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // its answer is here
	reply, err := conn.Ask(fleet.Request{Path: s.links[0].Path()})
	if err == nil && (reply.Status != http.StatusFound || reply.Location() != s.links[0].Target) {
		err = fmt.Errorf("%s: got %d to %q, want a redirect to %q", s.links[0].Path(), reply.Status, reply.Location(), s.links[0].Target)
	}
	return err
}

// pin keeps a process that runs already on the site's core.
func (s *site) pin(tb testing.TB, pid int) {
	tb.Helper()
	if s.core == Anywhere {
		return
	}
	command(tb, "", "taskset", "--all-tasks", "--cpu-list", "--pid", strconv.Itoa(s.core), strconv.Itoa(pid))
}

// find is the path of a program of a package, where Debian keeps servers if it is not on PATH.
func find(tb testing.TB, program, pkg string) string {
	tb.Helper()
	for _, name := range []string{program, "/usr/sbin/" + program} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	tb.Fatal(&services.MissingError{Program: program, Package: pkg})
	return ""
}

// command runs a program in a folder to its end and returns what it printed.
func command(tb testing.TB, dir, program string, args ...string) string {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), program, args...) //nolint:gosec // this package's own words
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("%s: %v:\n%s", cmd, err, out)
	}
	return strings.TrimSpace(string(out))
}

// tail is the end of a log, or why there is none.
func tail(path string) string {
	text, err := os.ReadFile(path) //nolint:gosec // a file of the site
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-logTail):])
}
