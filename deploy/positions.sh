#!/usr/bin/env bash
# Measures the positions protocol on the binaries in bin/, which are built as released: positions.sh rows
# rows picks by regular expression, group and row, such as near/spread; "." is all of them, some nine minutes.
# bench/results/ gets positions.json (with commit, machine and settings) and positions.md (from it) of the rows that ran.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p bench/results
WAYPOST_TEST_BIN=$PWD/bin WAYPOST_POSITIONS_RESULTS=$PWD/bench/results \
	go test -count=1 -timeout 20m -v -run "^TestPositions\$/$1" waypost/bench/positions
echo "results: bench/results/positions.json, bench/results/positions.md"
