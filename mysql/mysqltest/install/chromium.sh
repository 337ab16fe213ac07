#!/bin/bash
# Installs Debian's Chromium, in which the tests of the web console run. Quick when it is there.
set -euo pipefail
! command -v chromium >/dev/null || exit 0
if ! command -v apt-get >/dev/null; then
  echo "chromium.sh: there is no apt-get; install chromium with your system's package manager" >&2
  exit 1
fi
run=()
if [ "$(id -u)" != 0 ]; then
  if ! sudo -n true 2>/dev/null; then
    echo "chromium.sh: run as root: apt-get install --no-install-recommends chromium fonts-dejavu-core" >&2
    exit 1
  fi
  run=(sudo -n)
fi
apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=600)
"${run[@]}" "${apt[@]}" update
# The fonts: without any the screenshots have no text.
"${run[@]}" "${apt[@]}" install --no-install-recommends chromium fonts-dejavu-core >/dev/null
echo "chromium.sh: installed chromium"
