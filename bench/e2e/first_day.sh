#!/bin/bash
# A first day with the API: runs the curl lines that stand in /docs, in their order and in one shell, and checks that each
# is answered as the page says: with that status, and with that in its body.
#
#   first_day.sh http://127.0.0.1:9000 wp_…     an origin, and a key with the scopes links:read, links:write and stats:read
set -euo pipefail

if [ $# -ne 2 ]; then
	echo "usage: first_day.sh ORIGIN KEY" >&2
	exit 2
fi
export WAYPOST=$1 KEY=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# The lines call this in place of curl; it is curl, and notes the status.
curl() { command curl -sS --max-time 30 -w '%{stderr}%{http_code}\n' "$@" 2>>statuses; }

unescape() { sed -e 's/&lt;/</g' -e 's/&gt;/>/g' -e 's/&#34;/"/g' -e "s/&#39;/'/g" -e 's/&#43;/+/g' -e 's/&amp;/\&/g'; }

# attribute NAME: its value in the tag on stdin, in double or single quotes.
attribute() { sed -n -E "s/.* $1=(\"([^\"]*)\"|'([^']*)').*/\2\3/p" | unescape; }

command curl -fsS --max-time 30 "$WAYPOST/docs" >page

# Each step becomes a file: its <pre> with all that stands in it.
awk '/<pre data-status=/ { n++; on = 1 } on { print > sprintf("step-%03d", n) } /<\/pre>/ { on = 0 }' page

steps=0
for step in step-*; do
	tag=$(head -n 1 "$step" | sed -E 's/^(<pre [^>]*>).*/\1/')
	want=$(attribute data-status <<<"$tag")
	has=$(attribute data-has <<<"$tag")
	sed -e '1s/^<pre [^>]*>//' -e 's/<\/pre>.*//' "$step" | unescape >line
	: >statuses
	: >body
	# shellcheck disable=SC1091
	. ./line >body || true # a failure shows in the status
	got=$(tr '\n' ' ' <statuses | sed 's/ $//')
	if [ "$got" != "$want" ] || { [ -n "$has" ] && ! grep -qF -- "$has" body; }; then
		printf 'got %s, want %s, with %s in the body:\n%s\n%s\n' "$got" "$want" "$has" "$(cat line)" "$(cat body)" >&2
		exit 1
	fi
	steps=$((steps + 1))
	printf '%s  %s\n' "$got" "$(head -c 120 line | head -n 1)"
done
if [ "$steps" -lt 12 ]; then
	echo "the page has $steps steps, want at least 12" >&2
	exit 1
fi
echo "$steps steps"
