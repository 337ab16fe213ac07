#!/bin/bash
# Installs from Debian's packages what the demo and the tests need: MariaDB with its clients (the ed25519 plugin is part
# of the server's package) and, for the tests, sysbench and HAProxy. No service is started. Quick when all is there.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
packages=()
need() { command -v "$1" >/dev/null || [[ " ${packages[*]} " == *" $2 "* ]] || packages+=("$2"); }
need mariadbd mariadb-server
need mariadb-install-db mariadb-server
need mariadb mariadb-client
need sysbench sysbench
need haproxy haproxy
[ ${#packages[@]} -gt 0 ] || exit 0
if ! command -v apt-get >/dev/null; then
  echo "mariadb.sh: there is no apt-get; install with your system's package manager: ${packages[*]}" >&2
  exit 1
fi
run=()
if [ "$(id -u)" != 0 ]; then
  if ! sudo -n true 2>/dev/null; then
    echo "mariadb.sh: packages are missing; run as root: apt-get install --no-install-recommends ${packages[*]}" >&2
    exit 1
  fi
  run=(sudo -n)
fi
# A policy that forbids starting services; it is taken away afterwards if it is ours.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap '"${run[@]}" rm -f $policy' EXIT
  printf '#!/bin/sh\nexit 101\n' | "${run[@]}" tee $policy >/dev/null
  "${run[@]}" chmod 755 $policy
fi
apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=600)
"${run[@]}" "${apt[@]}" update
"${run[@]}" "${apt[@]}" install --no-install-recommends "${packages[@]}" >/dev/null
echo "mariadb.sh: installed ${packages[*]}"
