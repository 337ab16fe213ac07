#!/bin/bash
# MySQL 9 from Debian's unstable suite, unpacked into a directory of its own beside the system and run through its own
# loader: nothing of the system changes and no root is needed. Quick when it is there.
# usage: mysql9.sh [DIR]      default: $KS_SERVERS, else kingshard-servers under the user's cache directory
set -euo pipefail
dir=${1:-${KS_SERVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/kingshard-servers}}
root=$dir/mysql9
[ ! -e "$root/done" ] || exit 0
sources=/etc/apt/sources.list.d/debian.sources
mirror=$(sed -n 's/^URIs:[[:space:]]*//p' "$sources" 2>/dev/null | head -1)
[ -n "$mirror" ] || mirror=$(awk '$1=="deb"{for(i=2;i<=NF;i++) if ($i ~ /^http/) {print $i; exit}}' /etc/apt/sources.list)
[ -n "$mirror" ] || { echo "mysql9.sh: no Debian mirror in the apt sources" >&2; exit 1; }
arch=$(dpkg --print-architecture)
rm -rf "$root"; mkdir -p "$root/apt/lists/partial" "$root/apt/archives/partial" "$root/apt/etc" "$root/tree"
: > "$root/apt/status"
keyring=$(ls /usr/share/keyrings/debian-archive-keyring.* 2>/dev/null | head -1)
echo "deb [signed-by=$keyring] $mirror sid main" > "$root/apt/etc/sources.list"
# An apt of its own: its lists, its empty idea of what is installed, signatures checked. The index of a mirror may be
# older than its Valid-Until.
options=(-o Dir::State="$root/apt" -o Dir::State::status="$root/apt/status" -o Dir::State::lists="$root/apt/lists"
  -o Dir::Cache="$root/apt" -o Dir::Cache::archives="$root/apt/archives" -o Dir::Etc::sourcelist="$root/apt/etc/sources.list"
  -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferencesparts=/dev/null -o Acquire::Check-Valid-Until=false
  -o APT::Architecture="$arch" -o APT::Get::List-Cleanup=false -o APT::Sandbox::User= -o Debug::NoLocking=true)
apt-get "${options[@]}" -q update >"$root/install.log" 2>&1 || { tail -5 "$root/install.log" >&2; exit 1; }
apt-get "${options[@]}" -q -y --no-install-recommends --download-only install mysql-server-core mysql-client-core >>"$root/install.log" 2>&1 ||
  { tail -5 "$root/install.log" >&2; exit 1; }
for deb in "$root"/apt/archives/*.deb; do dpkg -x "$deb" "$root/tree"; done
rm -rf "$root/apt"
loader=$(find "$root/tree/usr" -maxdepth 2 -name 'ld-linux-*.so.*' | head -1)
[ -n "$loader" ] || { echo "mysql9.sh: no loader in the unpacked tree" >&2; exit 1; }
libraries=$(find "$root/tree/usr/lib" -maxdepth 1 -type d -name '*-linux-gnu*' | head -1)
mkdir -p "$root/bin"
for program in usr/sbin/mysqld usr/bin/mysql usr/bin/mysqladmin usr/bin/mysqldump; do
  [ -e "$root/tree/$program" ] || continue
  printf '#!/bin/sh\nexec "%s" --argv0 "%s" --library-path "%s:%s/mysql/private" "%s" "$@"\n' \
    "$loader" "$root/tree/$program" "$libraries" "$libraries" "$root/tree/$program" > "$root/bin/$(basename $program)"
  chmod 755 "$root/bin/$(basename $program)"
done
"$root/bin/mysqld" --no-defaults --version
touch "$root/done"
