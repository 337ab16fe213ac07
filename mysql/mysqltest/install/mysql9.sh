#!/bin/bash
# MySQL 9 from Debian's unstable suite, unpacked into $KS_SERVERS (directory.sh has its default) and run through its own
# loader: nothing of the system changes and no root is needed. Quick when it is there.
set -euo pipefail
. "$(dirname "$0")/directory.sh" mysql9
fail() { echo "mysql9.sh: $1" >&2; [ ! -e "$root/install.log" ] || tail -n 10 "$root/install.log" >&2; exit 1; }

# The mirror is the one that this machine's own apt uses.
mirror=$(cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null |
  sed -nE 's/^(URIs:|deb( +\[[^]]*\])?) *([a-z+]+:[^ ]+).*/\3/p' | grep -v security | head -n 1) || true
keyring=$(ls /usr/share/keyrings/debian-archive-keyring.* 2>/dev/null | head -n 1) || true
[ -n "$mirror" ] && [ -n "$keyring" ] || fail "needs a Debian machine: no mirror in the apt sources or no debian-archive-keyring"

# An apt of its own: own lists, an empty idea of what is installed, signatures checked. The index of a mirror may be
# older than its Valid-Until.
rm -rf "$root"
mkdir -p "$root/apt/lists/partial" "$root/apt/archives/partial" "$root/tree" "$root/bin"
: > "$root/apt/status"
echo "deb [signed-by=$keyring] $mirror sid main" > "$root/apt/sources.list"
apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dir::State="$root/apt" -o Dir::State::status="$root/apt/status"
  -o Dir::Cache="$root/apt" -o Dir::Etc::sourcelist="$root/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null -o Acquire::Check-Valid-Until=false
  -o APT::Sandbox::User= -o Debug::NoLocking=true)
"${apt[@]}" update >"$root/install.log" 2>&1 || fail "apt-get update failed"
"${apt[@]}" install --no-install-recommends --download-only mysql-server-core mysql-client-core >>"$root/install.log" 2>&1 ||
  fail "the download failed"
for deb in "$root"/apt/archives/*.deb; do
  dpkg -x "$deb" "$root/tree" || fail "cannot unpack $(basename "$deb")"
done
rm -rf "$root/apt" "$root"/tree/usr/share/{doc,man,locale,info} "$root"/tree/usr/{share,lib/*-linux-gnu}/perl*

loader=$(find "$root"/tree/usr/lib* -maxdepth 1 -name 'ld-linux*.so.*' | head -n 1)
libraries=$(dirname "$(find "$root/tree/usr/lib" -maxdepth 2 -name 'libstdc++.so.6' | head -n 1)")
[ -n "$loader" ] || fail "no loader in the unpacked packages"
for program in usr/sbin/mysqld usr/bin/mysql usr/bin/mysqladmin usr/bin/mysqldump; do
  [ -e "$root/tree/$program" ] || fail "no $program in the unpacked packages"
  cat > "$root/bin/${program##*/}" <<W
#!/bin/sh
exec "$loader" --argv0 "$root/tree/$program" --library-path "$libraries" "$root/tree/$program" "\$@"
W
  chmod 755 "$root/bin/${program##*/}"
done
chmod -R go+rX "$root"
"$root/bin/mysqld" --no-defaults --version || fail "mysqld does not run"
touch "$root/done"
