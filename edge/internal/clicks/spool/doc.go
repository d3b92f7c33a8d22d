// Package spool keeps what is appended to it in files that outlive the process;
// README.md says how, and what else was tried.
package spool
