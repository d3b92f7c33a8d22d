// Package chaos breaks a running Waypost and checks what visitors were told meanwhile.
package chaos
