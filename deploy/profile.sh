#!/usr/bin/env bash
# Profiles the benchmarks of one package: profile.sh package regexp benchtime
# bench/results/ gets profile-cpu.pprof, profile-heap.pprof and the top of both as text.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$PWD/bench/results/profile
mkdir -p bench/results bin
go test -run '^$' -bench "$2" -benchmem -benchtime "$3" -timeout 30m -o bin/profile.test \
	-cpuprofile "$out-cpu.pprof" -memprofile "$out-heap.pprof" "$1"
go tool pprof -top -nodecount 40 bin/profile.test "$out-cpu.pprof" >"$out-cpu.txt"
go tool pprof -top -nodecount 40 -sample_index alloc_space bin/profile.test "$out-heap.pprof" >"$out-heap.txt"
head -20 "$out-cpu.txt"
echo "profiles: $out-cpu.pprof, $out-heap.pprof, and their tops as .txt"
