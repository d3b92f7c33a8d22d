package fleet

import "waypost/deploy/services"

// Main returns the tests of a package in the form in which its TestMain runs them: once they have run, the services that
// they shared are stopped and what was built of the binaries is removed.
func Main(tests services.TestRun, all ...*Binaries) services.TestRun {
	return services.Main(cleaned{tests, all})
}

type cleaned struct {
	tests    services.TestRun
	binaries []*Binaries
}

// Run runs the tests and returns their exit code.
func (c cleaned) Run() int {
	for _, b := range c.binaries {
		defer b.Remove() //nolint:errcheck // a folder of the system's temporary ones
	}
	return c.tests.Run()
}
