#!/bin/sh
# Installs what is named and not there yet:
# install.sh [postgresql] [redis-server] [gcc] [curl] [nginx] [haproxy] [varnish] [nodejs] [npm] [wrk]
# Used by `make run`, `make test` and CI alike. Debian and Ubuntu, as root or with sudo; elsewhere it says what to do.
set -eu

# server looks for a program where Debian keeps servers, which is on the PATH of root alone.
server() { command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ]; }

# The private servers of Waypost never touch what the packages set up: other ports, other folders.
present() {
	case "$1" in
	postgresql)
		for dir in /usr/lib/postgresql/*/bin; do
			if [ -x "$dir/postgres" ] && [ -x "$dir/initdb" ]; then return 0; fi
		done
		command -v postgres >/dev/null && command -v initdb >/dev/null
		;;
	redis-server) command -v redis-server >/dev/null ;;
	curl | wrk) command -v "$1" >/dev/null ;;
	gcc) command -v gcc >/dev/null && echo '#include <stdlib.h>' | gcc -E - >/dev/null 2>&1 ;;
	nginx | haproxy) server "$1" ;;
	varnish) server varnishd ;;
	nodejs) command -v node >/dev/null ;;
	npm) command -v npm >/dev/null ;;
	*)
		echo "install.sh: unknown name: $1 (postgresql, redis-server, gcc, curl, nginx, haproxy, varnish, nodejs, npm, wrk)" >&2
		exit 2
		;;
	esac
}

packages=
for name in "$@"; do
	if present "$name"; then continue; fi
	packages="$packages $name"
	if [ "$name" = gcc ]; then packages="$packages libc6-dev"; fi
done
if [ -z "$packages" ]; then exit 0; fi

if ! command -v apt-get >/dev/null; then
	echo "missing:$packages; there is no apt-get here, so please install them with this system's own tools" >&2
	exit 1
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "missing:$packages; as root: apt-get install --no-install-recommends$packages" >&2
		exit 1
	fi
	as_root=sudo
	if [ ! -t 0 ]; then as_root="sudo -n"; fi
fi

# While this file says 101, a package that is installed does not start its service.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	trap '$as_root rm -f "$policy"' EXIT
	trap 'exit 1' INT TERM
	printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
	$as_root chmod 755 "$policy"
fi

echo "installing:$packages"
apt="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3"
$apt update
# Word splitting is wanted: one argument a package.
# shellcheck disable=SC2086
$apt install -y --no-install-recommends $packages
