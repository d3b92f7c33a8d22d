#!/usr/bin/env bash
# Profiles an edge at work, or the benchmarks of one package: profile.sh work [package [regexp benchtime]]
# work picks by regular expression (one, many, zipf, l2, unknown); "." is all of them, some five minutes. bench/results/profile/ gets a
# .pprof of each kind, and its top as .txt; bench/results/profile.md tells where the CPU goes.
# With a package it gets the CPU and memory profiles of its benchmarks, in place of an edge's.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$PWD/bench/results/profile
mkdir -p "$out" bin

# top NAME [flag…]: the top of a profile as text.
top() {
	go tool pprof -top -nodecount 60 "${@:2}" "$out/$1.pprof" >"$out/$1.txt" 2>/dev/null
}

if [ -n "${2:-}" ]; then
	go test -run '^$' -bench "$3" -benchmem -benchtime "$4" -timeout 30m -o bin/profile.test \
		-cpuprofile "$out/bench-cpu.pprof" -memprofile "$out/bench-allocs.pprof" "$2"
	top bench-cpu
	top bench-allocs -sample_index alloc_space
	head -20 "$out/bench-cpu.txt"
	echo "profiles: $out/bench-cpu.pprof, $out/bench-allocs.pprof, and their tops as .txt"
	exit
fi

deploy/measure.sh profile "$1"
for file in "$out"/*-{cpu,allocs,mutex,block}.pprof; do
	name=$(basename "$file" .pprof)
	case $name in
	bench-*) ;;
	*-allocs) top "$name" -sample_index alloc_space ;;
	*) top "$name" ;;
	esac
done
echo "profiles: $out/WORK-{cpu,allocs,mutex,block}.pprof, and their tops as .txt"
