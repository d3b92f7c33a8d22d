// Package deploy holds what brings Waypost onto a machine; here, the script that installs the servers it needs.
package deploy

import _ "embed" // for InstallScript

// InstallScript is install.sh, a POSIX shell script. Its arguments name what must be there: postgresql,
// redis-server, gcc, curl, nginx, haproxy, varnish, nodejs, npm, wrk.
//
//go:embed install.sh
var InstallScript string
