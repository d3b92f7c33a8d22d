#!/usr/bin/env bash
# Runs the Go benchmarks of all modules and keeps the result: bench.sh regexp benchtime count
# bench/results/ gets go-bench.txt (for benchstat), go-bench.json (with commit and machine) and go-bench.md (from it).
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p bench/results
out=bench/results/go-bench
# One package after the other: two at once would measure each other.
go test -p 1 -run '^$' -bench "$1" -benchmem -benchtime "$2" -count "$3" -timeout 60m work | tee "$out.txt"
go run waypost/deploy/benchreport -commit "$(git describe --always --dirty 2>/dev/null || echo unknown)" \
	-json "$out.json" -markdown "$out.md" <"$out.txt"
echo "results: $out.txt, $out.json, $out.md"
