#!/usr/bin/env bash
# Makes the links that the scripts in bench/wrk and bench/k6 ask for, through the API; those that are there already stay.
#
#   seed.sh ORIGIN KEY [LINKS]     seed.sh http://127.0.0.1:9000 "$(cat .waypost/admin.key)" 100000
#
# KEY needs the scope links:write and, for more than a few links, admin, whose keys are not limited. LINKS: 5000.
set -euo pipefail

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
	echo "usage: seed.sh ORIGIN KEY [LINKS]" >&2
	exit 2
fi
origin=$1 key=$2 links=${3:-5000}

# items FROM TO: the body of a bulk creation, of links as visits.lua and links.js know them.
items() {
	awk -v from="$1" -v to="$2" 'BEGIN {
		printf "{\"items\":["
		for (i = from; i < to; i++) {
			printf "%s{\"alias\":\"wk%06d\",\"target\":\"https://example.com/somewhere/to/go?with=a&link=%06d\"}", comma, i, i
			comma = ","
		}
		print "]}"
	}'
}

made=0 there=0
for ((from = 0; from < links; from += 1000)); do
	to=$((from + 1000 < links ? from + 1000 : links))
	answer=$(items "$from" "$to" | curl -sS --fail-with-body --max-time 60 "$origin/api/v1/links/bulk" \
		-H "Authorization: Bearer $key" -H 'Content-Type: application/json' --data-binary @-) || {
		printf '%s\n' "$answer" >&2
		exit 1
	}
	new=$(grep -o '{"status":201,"link"' <<<"$answer" | wc -l) || true
	old=$(grep -o '{"status":409,"error"' <<<"$answer" | wc -l) || true
	if [ $((new + old)) -ne $((to - from)) ]; then
		printf 'links %d to %d: %d made, %d were there; the answer begins with\n%.500s\n' "$from" "$to" "$new" "$old" "$answer" >&2
		exit 1
	fi
	made=$((made + new)) there=$((there + old))
done
echo "$links links: $made made, $there were there"
