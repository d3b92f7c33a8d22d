// Package ops is what an operator sees of a service: its side listener with
// /healthz, /readyz, /metrics and /debug/pprof/, its log and its request ids.
package ops
