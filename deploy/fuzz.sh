#!/usr/bin/env bash
# Runs every fuzz target of the named modules for the given time each: fuzz.sh 60s module...
# Stops at the first that finds something; its input is in that package's testdata/fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."

time=$1
shift
ran=0
for module in "$@"; do
	for package in $(go list "waypost/$module/..."); do
		list=$(go test -run '^$' -list '^Fuzz' "$package")
		for target in $(grep '^Fuzz' <<<"$list" || true); do
			echo "fuzz $package $target for $time"
			go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package"
			ran=$((ran + 1))
		done
	done
done
echo "$ran fuzz targets ran for $time each, nothing found"
