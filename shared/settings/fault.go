package settings

import (
	"errors"
	"fmt"
	"strings"
)

// ErrHelp is returned by Load if the arguments ask for help (-h, -help,
// --help). Nothing was checked or set; the caller prints Usage.
var ErrHelp = errors.New("help requested")

// Fault is one reason why a configuration is refused.
type Fault struct {
	Name    string // the flag or variable at fault, as the user wrote it
	Problem string // never holds the value of a secret
}

// FaultsError lists every fault of a configuration. It is never empty.
type FaultsError struct {
	Faults []Fault
}

// Error is one line for the count and one for each fault.
func (e *FaultsError) Error() string {
	var b strings.Builder
	noun := "faults"
	if len(e.Faults) == 1 {
		noun = "fault"
	}
	fmt.Fprintf(&b, "configuration has %d %s:", len(e.Faults), noun)
	for _, f := range e.Faults {
		fmt.Fprintf(&b, "\n  %s: %s", f.Name, f.Problem)
	}
	return b.String()
}

// checker is a configuration with rules that span several settings.
type checker interface {
	// Check lists what is wrong with the loaded values taken together.
	Check() []Fault
}
