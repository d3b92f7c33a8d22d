#!/usr/bin/env bash
# Runs the tests whose names say that something is killed, paused, cut or slow, in their long versions, and keeps what
# they said: chaos.sh regexp
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p bench/results
out=bench/results/chaos.txt
CGO_ENABLED=1 go test -race -count=1 -timeout 30m -v -run "$1" work | tee "$out" |
	grep -E '^(=== RUN|--- (PASS|FAIL|SKIP)|ok|FAIL|panic)' || true
if grep -qE '^(FAIL|panic)' "$out"; then exit 1; fi
echo "$(grep -c '^--- PASS' "$out") fault tests passed: $out"
