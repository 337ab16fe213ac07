#!/bin/bash
# Installs from Debian's packages what the demo and the tests need: MariaDB with its clients and, for the tests, sysbench
# and HAProxy. No service is started. Quick when everything is there.
set -euo pipefail
packages=(mariadb-server mariadb-client sysbench haproxy procps)
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
done
[ ${#missing[@]} -gt 0 ] || exit 0
if ! command -v apt-get >/dev/null; then
  echo "MariaDB is missing and there is no apt-get: install a MariaDB or MySQL server with your system's package manager" >&2
  exit 1
fi
run=()
if [ "$(id -u)" != 0 ]; then
  if ! sudo -n true 2>/dev/null; then
    echo "missing packages; run as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  run=(sudo -n)
fi
# A policy that forbids starting services, taken away afterwards if it is ours.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' | "${run[@]}" tee $policy >/dev/null
  "${run[@]}" chmod 755 $policy
  trap '"${run[@]}" rm -f $policy' EXIT
fi
apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600)
"${run[@]}" "${apt[@]}" update >/dev/null
"${run[@]}" "${apt[@]}" install --no-install-recommends "${missing[@]}" >/dev/null
echo "installed: ${missing[*]}"
