#!/usr/bin/env bash
# Fails when `go work sync` would change a module: then the modules are not built with the versions they name.
# It works on a copy, since the command has no mode that only looks.
set -euo pipefail
cd "$(dirname "$0")/.."

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp go.work "$copy/"
if [ -e go.work.sum ]; then cp go.work.sum "$copy/"; fi
modules=$(go list -m -f '{{.Dir}}')
for dir in $modules; do cp -r "$dir" "$copy/"; done

(cd "$copy" && go work sync)
for dir in $modules; do
	name=$(basename "$dir")
	if ! diff -u "$dir/go.mod" "$copy/$name/go.mod"; then
		echo "go.work and $name/go.mod are out of step: run 'make tidy'" >&2
		exit 1
	fi
done
