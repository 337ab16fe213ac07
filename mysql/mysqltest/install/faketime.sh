#!/bin/bash
# Installs Debian's libfaketime, by which make chaos sets the clocks of servers. Quick when it is there.
set -euo pipefail
! compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' >/dev/null || exit 0
if ! command -v apt-get >/dev/null; then
  echo "faketime.sh: there is no apt-get; install libfaketime with your system's package manager" >&2
  exit 1
fi
run=()
if [ "$(id -u)" != 0 ]; then
  if ! sudo -n true 2>/dev/null; then
    echo "faketime.sh: run as root: apt-get install --no-install-recommends libfaketime" >&2
    exit 1
  fi
  run=(sudo -n)
fi
apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=600)
"${run[@]}" "${apt[@]}" update
"${run[@]}" "${apt[@]}" install --no-install-recommends libfaketime >/dev/null
echo "faketime.sh: installed libfaketime"
