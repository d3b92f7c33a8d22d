#!/usr/bin/env bash
# Measures on the binaries in bin/, which are built as released: measure.sh positions|clicks|admin|redirects|profile rows
# rows picks by regular expression, group and row, such as near/spread; "." is all of them: some nine minutes of each, a quarter of an hour of admin, most of an hour of redirects.
# bench/results/ gets NAME.json (with commit, machine and settings) and NAME.md (from it) of the rows that ran.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p bench/results
WAYPOST_TEST_BIN=$PWD/bin WAYPOST_MEASURE_RESULTS=$PWD/bench/results \
	go test -count=1 -timeout 90m -v -run "^Test${1^}\$/$2" "waypost/bench/$1"
echo "results: bench/results/$1.json, bench/results/$1.md"
