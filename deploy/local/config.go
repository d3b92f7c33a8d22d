package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The two variables that are for the launcher itself; every other WAYPOST_ variable is for the services.
const (
	dataEnv  = "WAYPOST_DATA"
	shiftEnv = "WAYPOST_PORT_SHIFT"
)

// config is where this stack lives.
type config struct {
	data  string // absolute folder of everything that is kept
	bin   string // absolute folder of the built binaries
	self  string // this program
	ports ports
	env   []string // for the services: "K=V", without the launcher's own two
}

// loadConfig reads the environment and looks where this program lies: the services' binaries lie beside it. The
// error lists every fault.
func loadConfig(environ []string, executable string) (config, error) {
	c := config{data: ".waypost", self: executable, bin: filepath.Dir(executable)}
	var faults []error
	shift := 0
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == dataEnv && value != "":
			c.data = value
		case name == shiftEnv && value != "":
			n, err := strconv.Atoi(value)
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %q is not a whole number", shiftEnv, value))
			}
			shift = n
		case name != dataEnv && name != shiftEnv:
			c.env = append(c.env, kv)
			faults = append(faults, unshared(name, value))
		}
	}
	var err error
	if c.ports, err = newPorts(shift); err != nil {
		faults = append(faults, err)
	}
	if c.data, err = filepath.Abs(c.data); err != nil {
		faults = append(faults, err)
	}
	for _, binary := range []string{originBinary, edgeBinary} {
		if _, err := os.Stat(filepath.Join(c.bin, binary)); err != nil {
			faults = append(faults, fmt.Errorf("no %s beside %s: run `make build`", binary, executable))
		}
	}
	return c, errors.Join(faults...)
}

// unshared refuses a setting that each process needs for itself, since what is handed on goes to all of them, and says
// what there is in its place.
func unshared(name, value string) error {
	instead := map[string]string{
		"WAYPOST_LISTEN":          "move all ports with " + shiftEnv,
		"WAYPOST_OPS_LISTEN":      "move all ports with " + shiftEnv,
		"WAYPOST_INTERNAL_LISTEN": "move all ports with " + shiftEnv,
		"WAYPOST_STATE_DIR":       "move all data with " + dataEnv,
		"WAYPOST_REGION":          "the edges are eu and us; run bin/" + edgeBinary + " by hand for another",
		"WAYPOST_EDGE_ID":         "the edges are edge-eu and edge-us; run bin/" + edgeBinary + " by hand for another",
	}[name]
	if instead == "" || value == "" {
		return nil
	}
	return fmt.Errorf("%s cannot be the same for all processes: unset it; %s", name, instead)
}

// path names a file or folder below the data folder.
func (c config) path(elem ...string) string {
	return filepath.Join(append([]string{c.data}, elem...)...)
}

// environ returns the services' environment with defaults for what it does not set. A variable set as NAME_FILE
// counts as set.
func (c config) environ(defaults map[string]string) []string {
	env := append([]string(nil), c.env...)
	for name, value := range defaults {
		if lookup(c.env, name) == "" && lookup(c.env, name+"_FILE") == "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// lookup returns the value of a variable in a list of "K=V", "" when it is not there.
func lookup(env []string, name string) string {
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}
